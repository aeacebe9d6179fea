// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication
import LocalAuthenticationTesting
import Synchronization
import Testing

/// `LAEnvironment`: states, and who is told of their changes.
@Suite(.timeLimit(.minutes(10))) struct EnvironmentTests {
    /// Puts each change into a stream, with the state that the environment has inside the callback.
    final class Watcher: NSObject, LAEnvironment.Observer, Sendable {
        struct Change: Sendable { let old, new: LAEnvironment.State }
        let changes: AsyncStream<Change>
        private let sink: AsyncStream<Change>.Continuation

        override init() {
            (changes, sink) = AsyncStream.makeStream()
            super.init()
        }

        func environment(
            _ environment: LAEnvironment,
            stateDidChangeFromOldState oldState: LAEnvironment.State
        ) {
            sink.yield(Change(old: oldState, new: environment.state))
        }

        func next() async -> Change? {
            for await change in changes { return change }
            return nil
        }
    }

    @Test func `the state tells what each mechanism can do`() async throws {
        let device = TestDevice()
        try await device.run {
            let environment = LAEnvironment.currentUser
            #expect(LAEnvironment.currentUser === environment)
            let biometry = try #require(environment.state.biometry)
            #expect(biometry.isUsable && biometry.isEnrolled && !biometry.isLockedOut)
            #expect(biometry.biometryType == .touchID)
            #expect(biometry.stateHash == LAContext().domainState.biometry.stateHash)
            #expect(!biometry.builtInSensorInaccessible)
            #expect(biometry.localizedName == "Touch ID")
            let password = try #require(environment.state.userPassword)
            #expect(password.isSet && password.isUsable)
            #expect(environment.state.companions.isEmpty)
            #expect(environment.state.allMechanisms == [biometry, password])
            #expect(environment.state == environment.state)
            #expect(environment.state.copy() as? LAEnvironment.State == environment.state)
            device.lockOut()
            #expect(environment.state.biometry?.isLockedOut == true)
            #expect(environment.state.biometry?.isUsable == false)
            #expect(environment.state.biometry?.isEnrolled == true)
            device.removeAllFingers()
            #expect(environment.state.biometry?.isEnrolled == false)
            #expect(environment.state.biometry?.stateHash == Data())
            device.removePasscode()
            #expect(environment.state.userPassword?.isSet == false)
            device.unplug()
            #expect(environment.state.biometry == nil)
            #expect(environment.state.allMechanisms.count == 1)
        }
        let ours = await device.run { LAEnvironment.currentUser }
        let other = await TestDevice().run { LAEnvironment.currentUser }
        #expect(ours !== other)
    }

    @Test func `an observer is told of each kind of change, with the new state in place`() async throws {
        let device = TestDevice()
        try await device.run {
            let environment = LAEnvironment.currentUser
            let watcher = Watcher()
            environment.addObserver(watcher)
            environment.addObserver(watcher)

            device.unplug()
            var change = try #require(await watcher.next())
            #expect(change.old.biometry != nil && change.new.biometry == nil)
            device.plug()
            change = try #require(await watcher.next())
            #expect(change.old.biometry == nil && change.new.biometry != nil)
            let before = change.new.biometry?.stateHash
            device.addFinger(.leftIndex)
            change = try #require(await watcher.next())
            #expect(change.old.biometry?.stateHash == before && change.new.biometry?.stateHash != before)
            device.lockOut()
            change = try #require(await watcher.next())
            #expect(change.old.biometry?.isLockedOut == false && change.new.biometry?.isLockedOut == true)
            device.unlock()
            change = try #require(await watcher.next())
            #expect(change.new.biometry?.isLockedOut == false)
            device.removePasscode()
            change = try #require(await watcher.next())
            #expect(change.old.userPassword?.isSet == true && change.new.userPassword?.isSet == false)
            environment.removeObserver(watcher)
        }
    }

    @Test func `an observer is not kept, and one that was removed is not called`() async {
        let device = TestDevice()
        await device.run {
            let environment = LAEnvironment.currentUser
            var gone: Watcher? = Watcher()
            weak let witness = gone
            if let gone { environment.addObserver(gone) }
            gone = nil
            #expect(witness == nil)
            let removed = Watcher()
            let stays = Watcher()
            environment.addObserver(removed)
            environment.addObserver(stays)
            environment.removeObserver(removed)
            device.unplug()
            #expect(await stays.next() != nil)
            // Both would have been called by now, one after the other.
            let told = Task { await removed.next() }
            told.cancel()
            #expect(await told.value == nil)
        }
    }

    /// One that leaves when it ends, as observers do.
    final class Leaving: NSObject, LAEnvironment.Observer, @unchecked Sendable {
        deinit { LAEnvironment.currentUser.removeObserver(self) }
    }

    @Test func `observers may end at any moment, and leave in their end`() async {
        let device = TestDevice()
        await device.run {
            let environment = LAEnvironment.currentUser
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<200 { environment.addObserver(Leaving()) }
                    }
                }
            }
        }
    }

    @Test func `an observer may leave the one method out`() async {
        final class Silent: NSObject, LAEnvironment.Observer {}
        await TestDevice().run { LAEnvironment.currentUser.addObserver(Silent()) }
    }
}
