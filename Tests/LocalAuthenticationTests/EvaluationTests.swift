// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import LocalAuthentication
import Synchronization
import Testing
import WhorlService

@Suite struct EvaluationTests {
    struct ButtonRow: Sendable {
        let button: PromptAction
        let policy: LAPolicy
        let code: Int
    }

    static let buttons = [
        ButtonRow(button: .cancel, policy: .deviceOwnerAuthenticationWithBiometrics, code: -2),
        ButtonRow(button: .cancel, policy: .deviceOwnerAuthentication, code: -2),
        ButtonRow(button: .fallback, policy: .deviceOwnerAuthenticationWithBiometrics, code: -3),
        ButtonRow(button: .fallback, policy: .deviceOwnerAuthentication, code: -3),
    ]

    @Test(arguments: buttons)
    func `a button ends the evaluation with its own code`(_ row: ButtonRow) async {
        let context = LAContext.on(Machine(scan: .nothing), TestPresenter(pressing: row.button))
        #expect(await context.reply(row.policy) == row.code)
        #expect(await context.outcome(row.policy) == row.code)
    }

    @Test(
        arguments: [
            (nil, nil, "Use Password…", "Cancel"), ("", "", nil, "Cancel"), ("Code", "No", "Code", "No"),
        ] as [(String?, String?, String?, String)]
    )
    func `titles have defaults, an empty fallback is hidden and an empty cancel is not`(
        _ fallback: String?,
        _ cancel: String?,
        _ shownFallback: String?,
        _ shownCancel: String
    ) async throws {
        let presenter = TestPresenter()
        let context = LAContext.on(Machine(), presenter)
        context.localizedFallbackTitle = fallback
        context.localizedCancelTitle = cancel
        #expect(context.localizedFallbackTitle == fallback)
        #expect(context.localizedCancelTitle == cancel)
        try await context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "why")
        let prompt = try #require(presenter.prompts.first)
        #expect(prompt.fallbackTitle == shownFallback)
        #expect(prompt.cancelTitle == shownCancel)
        #expect(prompt.reason == "why")
    }

    @Test func `a new context has Apple's defaults`() {
        let context = LAContext()
        #expect(context.localizedFallbackTitle == nil)
        #expect(context.localizedCancelTitle == nil)
        #expect(context.localizedReason.isEmpty)
        #expect(context.touchIDAuthenticationAllowableReuseDuration == 0)
        #expect(!context.interactionNotAllowed)
        #expect(context.evaluatedPolicyDomainState == nil)
    }

    @Test(arguments: ["", " ", "\n\t", "\u{200B}\u{1B}"])
    func `an empty reason is an error before any prompt, never a trap`(_ reason: String) async {
        let presenter = TestPresenter()
        let context = LAContext.on(Machine(), presenter)
        context.localizedReason = "not a stand-in for evaluatePolicy"
        #expect(await context.reply(.deviceOwnerAuthentication, reason: reason) == -10)
        #expect(await context.outcome(.deviceOwnerAuthentication, reason: reason) == -10)
        #expect(presenter.prompts.isEmpty)
        #expect(await context.outcome(.deviceOwnerAuthentication) == nil, "the context is still good")
    }

    @Test func `without interaction only a reusable match succeeds`() async {
        let presenter = TestPresenter()
        let context = LAContext.on(Machine(), presenter)
        context.interactionNotAllowed = true
        #expect(await context.reply(.deviceOwnerAuthenticationWithBiometrics) == -1004)
        #expect(await context.outcome(.deviceOwnerAuthentication) == -1004)
        context.touchIDAuthenticationAllowableReuseDuration = 10
        #expect(await context.outcome(.deviceOwnerAuthenticationWithBiometrics) == nil)
        #expect(presenter.prompts.isEmpty)
    }

    @Test(
        arguments: [
            (0, .zero), (-1, .zero), (.nan, .zero), (2.5, .milliseconds(2500)), (300, .seconds(300)),
            (301, .seconds(300)), (.infinity, .seconds(300)),
        ] as [(TimeInterval, Duration)]
    )
    func `the reuse window is cut to what it can be`(_ seconds: TimeInterval, _ window: Duration) async {
        let machine = Machine()
        let context = LAContext.on(machine)
        context.touchIDAuthenticationAllowableReuseDuration = seconds
        #expect(await context.outcome(.deviceOwnerAuthentication) == nil)
        #expect(await machine.nextRequest()?.reuse == window)
    }

    @Test(arguments: ServiceError.Code.allCases)
    func `whatever ends the service's evaluation is an error`(_ code: ServiceError.Code) async {
        let context = LAContext.on(Machine(scan: .fails(code)))
        let expected = LAErrorTests.code(for: code).rawValue
        #expect(await context.reply(.deviceOwnerAuthentication) == expected)
        #expect(await context.outcome(.deviceOwnerAuthentication) == expected)
        #expect(context.evaluatedPolicyDomainState == nil)
    }

    @Test func `a second evaluation on a busy context fails with -4 and leaves the first alone`() async {
        let machine = Machine(scan: .nothing)
        let context = LAContext.on(machine)
        async let first = context.reply(.deviceOwnerAuthentication)
        _ = await machine.nextRequest()
        #expect(await context.reply(.deviceOwnerAuthentication) == -4)
        #expect(await context.outcome(.deviceOwnerAuthentication) == -4)
        context.invalidate()
        #expect(await first == -9)
    }

    @Test func `two contexts evaluate at the same time`() async {
        let machines = [Machine(scan: .nothing), Machine()]
        let contexts = machines.map { LAContext.on($0) }
        async let first = contexts[0].reply(.deviceOwnerAuthentication)
        _ = await machines[0].nextRequest()
        #expect(await contexts[1].reply(.deviceOwnerAuthentication) == nil)
        contexts[0].invalidate()
        #expect(await first == -9)
    }

    @Test func `the reply comes once, on a thread that is not the caller's`() {
        let context = LAContext.on(Machine())
        let caller = pthread_self()
        let replies = Mutex(0)
        let foreign = Mutex(false)
        let done = DispatchSemaphore(value: 0)
        context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "count") { _, _ in
            replies.withLock { $0 += 1 }
            foreign.withLock { $0 = pthread_equal(pthread_self(), caller) == 0 }
            done.signal()
        }
        #expect(done.wait(timeout: .now() + 300) == .success)
        #expect(foreign.withLock { $0 })
        // Whatever else would be on the same queue is there before the reply of a later evaluation.
        context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "again") { _, _ in done.signal() }
        #expect(done.wait(timeout: .now() + 300) == .success)
        #expect(replies.withLock { $0 } == 1)
    }

    @Test func `an error too is replied after the call has returned`() {
        let context = LAContext.on(Machine())
        context.invalidate()
        let hasReturned = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "late") { _, _ in
            // A reply on the caller's thread would wait here for ever.
            if hasReturned.wait(timeout: .now() + 300) == .success { done.signal() }
        }
        hasReturned.signal()
        #expect(done.wait(timeout: .now() + 300) == .success)
    }
}

extension Machine {
    /// The next evaluation that reaches the service.
    func nextRequest() async -> EvaluationRequest? {
        for await request in requests { return request }
        return nil
    }
}
