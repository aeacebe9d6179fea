// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication
import LocalAuthenticationTesting
import Observation
import Synchronization
import Testing

@Suite struct RightTests {
    @Test func `a right goes from unknown over authorized to given back`() async throws {
        let device = TestDevice()
        try await device.run {
            let right = LARight(requirement: .biometry)
            #expect(right.state == .unknown && right.tag == 0)
            try await right.checkCanAuthorize()
            device.next(.match)
            try await right.authorize(localizedReason: "unlock")
            #expect(right.state == .authorized)
            await right.deauthorize()
            #expect(right.state == .notAuthorized)
            device.next(.cancel)
            await #expect(throws: LAError.self) { try await right.authorize(localizedReason: "unlock") }
            #expect(right.state == .notAuthorized)
        }
    }

    /// A program's own kind, and a double for its tests.
    private final class NamedRight: LARight, @unchecked Sendable {
        let name: String

        init(name: String) {
            self.name = name
            super.init()
        }

        override var state: State { .authorized }
        override func authorize(localizedReason: String) async throws {}
    }

    @Test func `a program may have rights of its own kind`() async throws {
        let device = TestDevice()
        try await device.run {
            let right: LARight = NamedRight(name: "balance")
            try await right.authorize(localizedReason: "look")
            #expect(right.state == .authorized && device.prompts.isEmpty)
        }
    }

    @Test func `a check leaves its caller's thread to others`() async throws {
        let device = TestDevice()
        try await device.run {
            try await Self.checkOnMainActor()
        }
    }

    @MainActor private static func checkOnMainActor() async throws {
        let right = LARight()
        var others = 0
        // A check that blocks its caller lets nobody in before it has ended.
        let other = Task { @MainActor in others += 1 }
        try await right.checkCanAuthorize()
        #expect(others == 1)
        await other.value
    }

    @Test func `64 tasks block for completions at once`() async {
        let device = TestDevice()
        for _ in 0..<64 { device.next(.match) }
        await device.run {
            let store = LARightStore.shared
            let answers = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<64 {
                    group.addTask {
                        let right = LARight()
                        let answers = [
                            Self.block { done in right.checkCanAuthorize { done($0 == nil) } },
                            Self.block { done in
                                right.authorize(localizedReason: "wait") { done($0 == nil) }
                            },
                            Self.block { done in right.deauthorize { done(true) } },
                            Self.block { done in
                                store.removeRight(forIdentifier: "none \(number)") { done($0 != nil) }
                            },
                        ]
                        return answers.allSatisfy { $0 }
                    }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(answers == 64)
        }
    }

    /// A semaphore around a completion, as many programs have it.
    private static func block(on work: (@escaping @Sendable (Bool) -> Void) -> Void) -> Bool {
        let answer = Mutex<Bool?>(nil)
        let done = DispatchSemaphore(value: 0)
        work { value in
            answer.withLock { $0 = value }
            done.signal()
        }
        done.wait()
        return answer.withLock { $0 } == true
    }

    @Test func `the passcode grants what a finger need not, and nothing else`() async throws {
        let device = TestDevice()
        try await device.run {
            device.lockOut()
            for requirement in [LAAuthenticationRequirement.biometry, .biometryCurrentSet] {
                let right = LARight(requirement: requirement)
                await #expect { try await right.checkCanAuthorize() } throws: {
                    ($0 as? LAError)?.code == .biometryLockout
                }
                await #expect { try await right.authorize(localizedReason: "no") } throws: {
                    ($0 as? LAError)?.code == .biometryLockout
                }
            }
            for right in [LARight(), LARight(requirement: .biometry(fallback: .devicePasscode))] {
                try await right.checkCanAuthorize()
                device.next(.passcode(TestDevice.usualPasscode))
                try await right.authorize(localizedReason: "yes")
                #expect(right.state == .authorized)
            }
        }
    }

    @Test func `giving a right back ends its prompt, and nothing is granted`() async {
        let device = TestDevice()
        await device.run {
            let right = LARight()
            device.next(.nothing)
            async let error = { () async -> Int? in
                do { try await right.authorize(localizedReason: "wait"); return nil } catch {
                    return (error as? LAError)?.errorCode
                }
            }()
            while device.prompts.isEmpty { await Task.yield() }
            #expect(right.state == .authorizing)
            await #expect(throws: LAError.self) { try await right.authorize(localizedReason: "twice") }
            await right.deauthorize()
            #expect(await error == -9)
            #expect(right.state == .notAuthorized)
        }
    }

    @Test func `given back in the moment in which it is granted, it is not granted`() async {
        let device = TestDevice()
        await device.run {
            let right = LARight()
            let isGivenBack = Atomic(false)
            // The first change is that the owner is asked, the second that he was recognized.
            withObservationTracking {
                _ = right.state
            } onChange: {
                withObservationTracking {
                    _ = right.state
                } onChange: {
                    // Giving it back is a change too.
                    guard !isGivenBack.exchange(true, ordering: .relaxed) else { return }
                    right.deauthorize {}
                }
            }
            device.next(.match)
            await #expect { try await right.authorize(localizedReason: "open") } throws: {
                ($0 as? LAError)?.code == .appCancel
            }
            #expect(right.state == .notAuthorized)
            #expect(device.prompts.count == 1)
        }
    }
}
