// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import Testing
import WhorlService

private typealias Code = ServiceError.Code

/// One row of the decision table: what holds, and what each policy then comes to.
struct DecisionCase: Sendable, CustomTestStringConvertible {
    let title: String
    let preconditions: Preconditions
    /// Under `biometrics`; `nil` means that a finger is asked for.
    let biometrics: ServiceError.Code?
    /// Under `deviceOwner` without a passcode; `nil` means that a finger is asked for.
    let withoutPasscode: ServiceError.Code?
    /// Whether, with a passcode, `deviceOwner` asks for it; otherwise it is as under `biometrics`.
    let asksPasscode: Bool

    var testDescription: String { title }

    init(
        _ title: String,
        biometrics: ServiceError.Code?,
        withoutPasscode: ServiceError.Code?,
        asksPasscode: Bool,
        _ change: (inout Preconditions) -> Void
    ) {
        var preconditions = Preconditions()
        preconditions.reader = .connected
        preconditions.fingers = .usable
        change(&preconditions)
        self.title = title
        self.preconditions = preconditions
        self.biometrics = biometrics
        self.withoutPasscode = withoutPasscode
        self.asksPasscode = asksPasscode
    }
}

extension DecisionCase {
    static let single: [DecisionCase] = [
        DecisionCase("all is well", biometrics: nil, withoutPasscode: nil, asksPasscode: false) { _ in },
        DecisionCase(
            "no reader, nothing enrolled",
            biometrics: .biometryNotAvailable,
            withoutPasscode: .passcodeNotSet,
            asksPasscode: true
        ) {
            $0.reader = .none
            $0.fingers = .none
        },
        DecisionCase(
            "no reader, fingers enrolled",
            biometrics: .biometryDisconnected,
            withoutPasscode: .passcodeNotSet,
            asksPasscode: true
        ) {
            $0.reader = .none
            $0.fingers = .elsewhere
        },
        DecisionCase(
            "a reader, nothing enrolled",
            biometrics: .biometryNotEnrolled,
            withoutPasscode: .passcodeNotSet,
            asksPasscode: true
        ) { $0.fingers = .none },
        DecisionCase(
            "a reader, fingers enrolled for another one",
            biometrics: .biometryDisconnected,
            withoutPasscode: .passcodeNotSet,
            asksPasscode: true
        ) { $0.fingers = .elsewhere },
        DecisionCase(
            "two readers and none named",
            biometrics: .readerNotChosen,
            withoutPasscode: .readerNotChosen,
            asksPasscode: true
        ) { $0.reader = .unclear(ServiceError(.readerNotChosen)) },
        DecisionCase(
            "locked for a time",
            biometrics: .biometryLockout,
            withoutPasscode: .biometryLockout,
            asksPasscode: true
        ) { $0.lock = .for(.seconds(300)) },
        DecisionCase(
            "locked until the passcode",
            biometrics: .biometryLockout,
            withoutPasscode: .biometryLockout,
            asksPasscode: true
        ) { $0.lock = .untilPasscode },
        DecisionCase(
            "opted out",
            biometrics: .biometryOptedOut,
            withoutPasscode: .passcodeNotSet,
            asksPasscode: true
        ) { $0.isOptedOut = true },
        DecisionCase(
            "tampered with",
            biometrics: .enrollmentTampered,
            withoutPasscode: .enrollmentTampered,
            asksPasscode: true
        ) { $0.enrollmentFault = ServiceError(.enrollmentTampered) },
        DecisionCase(
            "rolled back",
            biometrics: .enrollmentRolledBack,
            withoutPasscode: .enrollmentRolledBack,
            asksPasscode: true
        ) { $0.enrollmentFault = ServiceError(.enrollmentRolledBack) },
        DecisionCase(
            "the store cannot be used",
            biometrics: .storeFailed,
            withoutPasscode: .storeFailed,
            asksPasscode: false
        ) { $0.storeFailure = ServiceError(.storeFailed) },
    ]
}

@Suite struct `Who may be asked` {
    @Test(arguments: DecisionCase.single)
    func `follows from what holds`(_ example: DecisionCase) {
        #expect(example.preconditions.refusal(of: .biometrics)?.code == example.biometrics)
        #expect(example.preconditions.refusal(of: .deviceOwner)?.code == example.withoutPasscode)
    }

    @Test(arguments: DecisionCase.single)
    func `includes the passcode where one is set, under deviceOwner alone`(_ example: DecisionCase) {
        var preconditions = example.preconditions
        preconditions.passcode = .set
        #expect(preconditions.refusal(of: .biometrics)?.code == example.biometrics)
        switch preconditions.plan(for: .deviceOwner) {
        case .finger: #expect(example.biometrics == nil)
        case .passcode(insteadOf: let obstacle):
            #expect(example.asksPasscode)
            #expect(obstacle.code == example.biometrics)
        case .refuse(let error):
            #expect(!example.asksPasscode)
            #expect(error.code == example.biometrics)
        }
    }

    @Test func `is refused when only a passcode could do and it cannot be told whether one is set`() {
        var preconditions = Preconditions()
        preconditions.passcode = .unknown(ServiceError(.storeFailed, cause: "authority"))
        #expect(preconditions.refusal(of: .deviceOwner)?.cause == "authority")
        #expect(!preconditions.lockEndsByTime)
        preconditions.reader = .connected
        preconditions.fingers = .usable
        #expect(preconditions.refusal(of: .deviceOwner) == nil)
    }

    /// Each reason with everything that it goes before.
    @Test func `tells the first reason of the order when several hold`() {
        var preconditions = Preconditions()
        preconditions.reader = .connected
        preconditions.fingers = .usable
        let steps: [(ServiceError.Code, (inout Preconditions) -> Void)] = [
            (.biometryLockout, { $0.lock = .untilPasscode }),
            (.biometryDisconnected, { $0.fingers = .elsewhere }),
            (.biometryNotEnrolled, { $0.fingers = .none }),
            (.biometryNotAvailable, { $0.reader = .none }),
            (.readerNotChosen, { $0.reader = .unclear(ServiceError(.readerNotChosen)) }),
            (.biometryOptedOut, { $0.isOptedOut = true }),
            (.enrollmentTampered, { $0.enrollmentFault = ServiceError(.enrollmentTampered) }),
            (.storeFailed, { $0.storeFailure = ServiceError(.storeFailed) }),
        ]
        for (code, add) in steps {
            add(&preconditions)
            #expect(preconditions.biometryObstacle?.code == code)
        }
    }

    @Test(arguments: [
        (1, "1 second"), (119, "119 seconds"), (120, "2 minutes"), (299, "5 minutes"), (300, "5 minutes"),
        (7199, "120 minutes"), (7200, "2 hours"), (86_400, "24 hours"),
    ])
    func `is told how long a lock lasts`(_ seconds: Int, _ words: String) throws {
        let error = try #require(ServiceError.lockout(.for(.seconds(seconds))))
        #expect(error.recovery.contains(words), "\(error.recovery)")
        #expect(ServiceError.lockout(.open) == nil)
    }
}

extension Preconditions {
    /// The obstacle between a policy and a finger; `nil` where a finger is asked for.
    fileprivate func refusal(of policy: Policy) -> ServiceError? {
        switch plan(for: policy) {
        case .finger: nil
        case .passcode(insteadOf: let obstacle), .refuse(let obstacle): obstacle
        }
    }
}
