// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import LocalAuthentication
import Synchronization
import Testing

@Suite struct InvalidationTests {
    @Test func `an invalidated context answers -10 to everything, however often it was invalidated`() async {
        let presenter = TestPresenter()
        let context = LAContext.on(Machine(), presenter)
        context.invalidate()
        context.invalidate()
        #expect(await context.reply(.deviceOwnerAuthentication) == -10)
        #expect(await context.outcome(.deviceOwnerAuthenticationWithBiometrics) == -10)
        #expect(context.check(.deviceOwnerAuthentication) == -10)
        #expect(presenter.prompts.isEmpty)
        #expect(context.evaluatedPolicyDomainState == nil)
    }

    @Test(arguments: [Machine.Scan.nothing, .matchWhenCancelled])
    func `invalidating ends a running evaluation with -9, even one that just matched`(
        _ scan: Machine.Scan
    ) async {
        let machine = Machine(scan: scan)
        let context = LAContext.on(machine)
        async let reply = context.reply(.deviceOwnerAuthentication)
        _ = await machine.nextRequest()
        context.invalidate()
        #expect(await reply == -9)
        #expect(await context.reply(.deviceOwnerAuthentication) == -10)
        #expect(context.evaluatedPolicyDomainState == nil)
    }

    @Test func `invalidating ends a running async evaluation with -9`() async {
        let machine = Machine(scan: .nothing)
        let context = LAContext.on(machine)
        async let outcome = context.outcome(.deviceOwnerAuthentication)
        _ = await machine.nextRequest()
        context.invalidate()
        #expect(await outcome == -9)
    }

    @Test func `invalidating after a success takes nothing back`() async {
        let context = LAContext.on(Machine())
        #expect(await context.reply(.deviceOwnerAuthenticationWithBiometrics) == nil)
        let state = context.evaluatedPolicyDomainState
        context.invalidate()
        #expect(state != nil)
        #expect(context.evaluatedPolicyDomainState == state)
    }

    @Test func `cancelling the task of the async form ends it with -9 and leaves the context usable`() async {
        let machine = Machine(scan: .nothing)
        let context = LAContext.on(machine)
        for _ in 0..<2 {
            let task = Task { await context.outcome(.deviceOwnerAuthentication) }
            _ = await machine.nextRequest()
            task.cancel()
            #expect(await task.value == -9)
        }
    }

    @Test func `a task that was cancelled before gets -9 too`() async {
        let context = LAContext.on(Machine(scan: .nothing))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await context.outcome(.deviceOwnerAuthentication)
        }
        #expect(await task.value == -9)
    }

    @Test func `letting go of a context ends its evaluation with -9, and the reply comes once`() async {
        let machine = Machine(scan: .nothing)
        let replies = Mutex(0)
        let (codes, sink) = AsyncStream.makeStream(of: Int?.self)
        var context: LAContext? = LAContext.on(machine)
        weak let witness = context
        context?.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "let go") { _, error in
            replies.withLock { $0 += 1 }
            sink.yield((error as NSError?)?.code)
        }
        _ = await machine.nextRequest()
        context = nil
        #expect(witness == nil, "the evaluation keeps its context alive")
        for await code in codes {
            #expect(code == -9)
            break
        }
        #expect(replies.withLock { $0 } == 1)
    }
}
