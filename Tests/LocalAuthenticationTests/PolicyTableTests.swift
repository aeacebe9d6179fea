// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import LocalAuthentication
import Testing
import WhorlService

/// A machine, and what each policy is told there: `nil` for yes, else Apple's number.
struct MachineRow: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let preconditions: Preconditions
    /// `canEvaluatePolicy`.
    let can: (biometrics: Int?, owner: Int?)
    /// `evaluatePolicy`, with a finger that would match.
    let does: (biometrics: Int?, owner: Int?)

    init(
        _ name: String,
        _ preconditions: Preconditions,
        can: (biometrics: Int?, owner: Int?),
        does: (biometrics: Int?, owner: Int?)? = nil
    ) {
        testDescription = name
        self.preconditions = preconditions
        self.can = can
        self.does = does ?? can
    }

    private static let timed = LockState.for(.seconds(300))

    // Where a passcode is set and no finger can be used, the preflight says yes: the passcode is asked for. The evaluation of
    // this machine's double has a finger and no passcode, so it ends with what keeps the finger away.
    static let all = [
        MachineRow("ready", .ready, can: (nil, nil)),
        // Apple's systems say -5 in both columns.
        MachineRow("ready, no passcode", .make(passcode: .notSet), can: (nil, nil)),
        MachineRow("no reader", .make(reader: .none, fingers: .none), can: (-6, nil), does: (-6, -6)),
        MachineRow(
            "no reader, no passcode",
            .make(reader: .none, fingers: .none, passcode: .notSet),
            can: (-6, -5)
        ),
        MachineRow("nothing enrolled", .make(fingers: .none), can: (-7, nil), does: (-7, -7)),
        MachineRow("nothing enrolled, no passcode", .make(fingers: .none, passcode: .notSet), can: (-7, -5)),
        MachineRow("locked", .make(lock: .untilPasscode), can: (-8, nil), does: (-8, -8)),
        MachineRow("locked for a time", .make(lock: timed, passcode: .notSet), can: (-8, -8)),
        MachineRow("unplugged", .make(reader: .none), can: (-13, nil), does: (-13, -13)),
        MachineRow("unplugged, no passcode", .make(reader: .none, passcode: .notSet), can: (-13, -5)),
        MachineRow("another reader", .make(fingers: .elsewhere), can: (-13, nil), does: (-13, -13)),
        MachineRow(
            "another reader, no passcode",
            .make(fingers: .elsewhere, passcode: .notSet),
            can: (-13, -5)
        ),
        MachineRow("opted out", .make(optedOut: true), can: (-6, nil), does: (-6, -6)),
        MachineRow("opted out, no passcode", .make(passcode: .notSet, optedOut: true), can: (-6, -5)),
        MachineRow("tampered", .make(fault: .enrollmentTampered), can: (-6, nil), does: (-6, -6)),
        MachineRow("rolled back", .make(passcode: .notSet, fault: .enrollmentRolledBack), can: (-6, -6)),
        MachineRow("store failed", .make(store: .storeFailed), can: (-6, -6)),
        MachineRow(
            "two readers, none named",
            .make(reader: .unclear(ServiceError(.readerNotChosen)), passcode: .notSet),
            can: (-6, -6)
        ),
        MachineRow(
            "reader in use",
            .make(reader: .unclear(ServiceError(.readerInUse)), passcode: .notSet),
            can: (-4, -4)
        ),
    ]
}

@Suite struct PolicyTableTests {
    @Test(arguments: MachineRow.all)
    func `each machine tells each policy what the table says`(_ row: MachineRow) {
        let context = LAContext.on(Machine(row.preconditions))
        #expect(context.check(.deviceOwnerAuthenticationWithBiometrics) == row.can.biometrics)
        #expect(context.check(.deviceOwnerAuthentication) == row.can.owner)
        #expect(context.check(.deviceOwnerAuthenticationWithBiometricsOrCompanion) == row.can.biometrics)
        #expect(context.check(.deviceOwnerAuthenticationWithCompanion) == -11)
        #expect(context.check(.deviceOwnerAuthenticationWithWristDetection) == -6)
    }

    @Test(arguments: MachineRow.all)
    func `each machine ends each evaluation as the table says, in both forms`(_ row: MachineRow) async {
        let context = LAContext.on(Machine(row.preconditions))
        let expected: [(LAPolicy, Int?)] = [
            (.deviceOwnerAuthenticationWithBiometrics, row.does.biometrics),
            (.deviceOwnerAuthentication, row.does.owner),
            (.deviceOwnerAuthenticationWithBiometricsOrCompanion, row.does.biometrics),
            (.deviceOwnerAuthenticationWithCompanion, -11),
            (.deviceOwnerAuthenticationWithWristDetection, -6),
        ]
        for (policy, code) in expected {
            #expect(await context.reply(policy) == code, "\(policy)")
            #expect(await context.outcome(policy) == code, "\(policy)")
        }
    }

    @Test(arguments: MachineRow.all)
    func `the kind of biometry is told whenever there is a reader, without a call before`(_ row: MachineRow) {
        let hasReader =
            switch row.preconditions.reader {
            case .connected: true
            case .none, .unclear: false
            }
        let context = LAContext.on(Machine(row.preconditions))
        #expect(context.biometryType == (hasReader ? .touchID : .none))
        #expect(context.domainState.biometry.biometryType == context.biometryType)
    }

    @Test func `a preflight may be asked without a place for its error`() {
        #expect(LAContext.on(Machine()).canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
        let locked = LAContext.on(Machine(.make(lock: .untilPasscode)))
        #expect(!locked.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil))
    }
}
