// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import LocalAuthentication
import Testing

/// The calls that block, where blocking could wait for itself.
@Suite(.timeLimit(.minutes(10))) struct ThreadTests {
    @Test func `64 tasks ask at once, more than the pool has threads`() async {
        let context = LAContext.on(Machine())
        let answers = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil)
                        && context.biometryType == .touchID && context.domainState.stateHash != nil
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(answers == 64)
    }

    @Test func `64 tasks block for replies at once, and each reply asks again`() async {
        let answers = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<64 { group.addTask { Self.evaluateBlocking() } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(answers == 64)
    }

    @Test func `a preflight inside a reply answers`() async {
        let context = LAContext.on(Machine())
        let answer = await withCheckedContinuation { continuation in
            context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "ask inside") { _, _ in
                continuation.resume(
                    returning: context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil)
                )
            }
        }
        #expect(answer)
    }

    @Test func `the properties may be changed from many threads`() async {
        let context = LAContext.on(Machine())
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                group.addTask {
                    context.localizedCancelTitle = "\(number)"
                    context.localizedFallbackTitle = context.localizedCancelTitle
                }
            }
        }
        #expect(Int(context.localizedCancelTitle ?? "") != nil)
    }

    /// A semaphore around the reply, as many programs have it.
    private static func evaluateBlocking() -> Bool {
        let context = LAContext.on(Machine())
        let done = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var isGood = false  // written before the signal, read after the wait
        context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "wait") { success, _ in
            isGood = success && context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil)
            done.signal()
        }
        done.wait()
        return isGood
    }
}
