// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import LocalAuthentication
import WhorlService
import Testing

/// `evaluateAccessControl`: which prompts an access control and an operation make.
@Suite struct AccessControlEvaluationTests {
    enum Ask: Sendable { case finger, passcode, either }

    static let uses: [LAAccessControlOperation] = [
        .useItem, .useKeySign, .useKeyDecrypt, .useKeyKeyExchange,
    ]

    static let asks: [(flags: SecAccessControlCreateFlags, prompts: [Ask])] = [
        ([], []),
        (.privateKeyUsage, []),
        (.userPresence, [.either]),
        (.biometryAny, [.finger]),
        (.biometryCurrentSet, [.finger]),
        ([.biometryCurrentSet, .privateKeyUsage], [.finger]),
        (.devicePasscode, [.passcode]),
        ([.biometryAny, .devicePasscode], [.finger, .passcode]),
        ([.biometryAny, .devicePasscode, .and], [.finger, .passcode]),
        ([.biometryAny, .devicePasscode, .or], [.either]),
        ([.biometryAny, .companion, .or], [.finger]),
    ]

    @Test(arguments: asks, uses)
    func `using asks for what the access control names, one prompt after the other`(
        _ row: (flags: SecAccessControlCreateFlags, prompts: [Ask]),
        _ operation: LAAccessControlOperation
    ) async throws {
        let machine = Machine()
        let context = LAContext.on(machine)
        #expect(await context.outcome(try control(row.flags), operation) == nil)
        #expect(await machine.asked(row.prompts.count) == row.prompts)
        #expect(await context.reply(try control(row.flags), operation) == nil)
        #expect(await machine.asked(row.prompts.count) == row.prompts)
        #expect(context.evaluatedPolicyDomainState == nil, "only a policy tells the set of fingers")
    }

    @Test(arguments: asks.map(\.flags), [LAAccessControlOperation.createItem, .createKey])
    func `making asks nobody, even where nobody may be asked`(
        _ flags: SecAccessControlCreateFlags,
        _ operation: LAAccessControlOperation
    ) async throws {
        let presenter = TestPresenter()
        let context = LAContext.on(Machine(.make(lock: .untilPasscode)), presenter)
        context.interactionNotAllowed = true
        #expect(await context.outcome(try control(flags), operation) == nil)
        #expect(await context.reply(try control(flags), operation) == nil)
        #expect(presenter.prompts.isEmpty)
    }

    @Test(arguments: [LAAccessControlOperation.createItem, .useItem, .createKey, .useKeySign])
    func `a companion that is needed is not there`(_ operation: LAAccessControlOperation) async throws {
        let context = LAContext.on(Machine())
        for flags in [SecAccessControlCreateFlags.companion, [.biometryAny, .companion]] {
            #expect(await context.outcome(try control(flags), operation) == -11)
            #expect(await context.reply(try control(flags), operation) == -11)
        }
        #expect(await context.outcome(.deviceOwnerAuthentication) == nil, "the context is still good")
    }

    @Test(arguments: [LAAccessControlOperation.createItem, .useItem])
    func `an application password is the program's to give, and nobody is asked for it`(
        _ operation: LAAccessControlOperation
    ) async throws {
        let presenter = TestPresenter()
        let context = LAContext.on(Machine(), presenter)
        let access = try control([.applicationPassword])
        #expect(await context.outcome(access, operation) == -1)
        #expect(presenter.prompts.isEmpty)
        context.setCredential(Data("secret".utf8), type: .applicationPassword)
        #expect(await context.outcome(access, operation) == nil)
        #expect(presenter.prompts.isEmpty)
        context.setCredential(nil, type: .applicationPassword)
        #expect(await context.outcome(access, operation) == -1)
    }

    @Test func `machine states end it with the codes of a policy`() async throws {
        let rows: [(Preconditions, SecAccessControlCreateFlags, Int?)] = [
            (.make(lock: .untilPasscode), .biometryAny, -8),
            (.make(fingers: .none), .biometryAny, -7),
            (.make(reader: .none), .biometryCurrentSet, -13),
            (.make(reader: .none, fingers: .none), .biometryAny, -6),
            (.make(reader: .none, fingers: .none, passcode: .notSet), .userPresence, -5),
        ]
        for (preconditions, flags, code) in rows {
            let context = LAContext.on(Machine(preconditions))
            #expect(await context.outcome(try control(flags), .useItem) == code)
            #expect(await context.reply(try control(flags), .useItem) == code)
        }
    }

    @Test func `buttons, blank reasons, forbidden prompts and ended contexts end it as they end a policy`()
        async throws
    {
        let access = try control(.biometryAny)
        #expect(await LAContext.on(Machine(scan: .nothing), .init(pressing: .cancel)).outcome(access) == -2)
        #expect(await LAContext.on(Machine(scan: .nothing), .init(pressing: .fallback)).outcome(access) == -3)
        let context = LAContext.on(Machine())
        #expect(await context.reply(access, .useItem, reason: " ") == -10)
        context.interactionNotAllowed = true
        #expect(await context.outcome(access) == -1004)
        context.interactionNotAllowed = false
        #expect(await context.outcome(access) == nil)
        context.invalidate()
        #expect(await context.outcome(access) == -10)
        #expect(await context.reply(try control(.companion)) == -10, "the context's end comes first")
    }

    @Test func `it and a policy exclude each other, and invalidating ends it with -9`() async throws {
        let machine = Machine(scan: .nothing)
        let context = LAContext.on(machine)
        let access = try control(.biometryAny)
        async let first = context.outcome(access)
        _ = await machine.nextRequest()
        #expect(await context.outcome(.deviceOwnerAuthentication) == -4)
        #expect(await context.reply(access) == -4)
        context.invalidate()
        #expect(await first == -9)
    }

    @Test func `what is bound to the present set of fingers takes no earlier match`() async throws {
        let machine = Machine()
        let context = LAContext.on(machine)
        context.touchIDAuthenticationAllowableReuseDuration = 60
        #expect(await context.outcome(try control(.biometryAny)) == nil)
        #expect(await machine.nextRequest()?.reuse == .seconds(60))
        #expect(await context.outcome(try control(.biometryCurrentSet)) == nil)
        #expect(await machine.nextRequest()?.reuse == .zero)
    }

    private func control(_ flags: SecAccessControlCreateFlags) throws -> SecAccessControl {
        try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil))
    }
}

extension Machine {
    /// The next requests that reach the service, as what they ask for.
    fileprivate func asked(_ count: Int) async -> [AccessControlEvaluationTests.Ask] {
        var asks: [AccessControlEvaluationTests.Ask] = []
        while asks.count < count, let request = await nextRequest() {
            switch (request.policy, request.takesPasscodeAlone) {
            case (.biometrics, false): asks.append(.finger)
            case (.deviceOwner, false): asks.append(.either)
            case (_, true): asks.append(.passcode)
            }
        }
        return asks
    }
}

extension LAContext {
    /// How the async form ends: `nil` for success, else the error's number.
    func outcome(_ access: SecAccessControl, _ operation: LAAccessControlOperation = .useItem) async -> Int? {
        do {
            let answer = try await evaluateAccessControl(
                access,
                operation: operation,
                localizedReason: "use the item"
            )
            return answer ? nil : 9999
        } catch {
            return (error as? LAError)?.errorCode ?? 9999
        }
    }

    /// How the reply form ends.
    func reply(
        _ access: SecAccessControl,
        _ operation: LAAccessControlOperation = .useItem,
        reason: String = "use the item"
    ) async -> Int? {
        await withCheckedContinuation { continuation in
            evaluateAccessControl(access, operation: operation, localizedReason: reason) { success, error in
                let isConsistent = success == (error == nil) && (success || error is LAError)
                continuation.resume(returning: isConsistent ? (error as NSError?)?.code : 9999)
            }
        }
    }
}
