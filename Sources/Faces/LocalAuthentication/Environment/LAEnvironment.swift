// SPDX-License-Identifier: Apache-2.0

internal import AuthenticationContext
public import Foundation
internal import GLibRuntime

/// The methods by which this machine can recognise its owner, and the observers of their changes.
///
///     let environment = LAEnvironment.currentUser
///     environment.addObserver(screen)                    // weakly held
///     let hasTouchID = environment.state.biometry?.isUsable ?? false
///
/// While there are observers, plugging a reader in or out is an event; every other change (a finger enrolled or removed
/// by another program, a lockout, a passcode) is noticed within a second, by reading the database's change mark.
/// Without observers nothing runs.
public final class LAEnvironment: NSObject, Sendable {
    /// An observer that is called when the state of the environment changes.
    ///
    /// On Apple's systems its method is optional; here it has an implementation that does nothing.
    public protocol Observer: NSObjectProtocol {
        /// Called after the state has changed; `environment.state` is already the new one.
        ///
        /// The calls are made on a private queue, one after the other.
        ///
        /// - Parameters:
        ///   - environment: The environment whose state has changed.
        ///   - oldState: The state that was reported before.
        func environment(
            _ environment: LAEnvironment,
            stateDidChangeFromOldState oldState: LAEnvironment.State
        )
    }

    let machine: ObservedMachine
    let observers = EnvironmentObservers()

    init(_ machine: ObservedMachine) {
        self.machine = machine
        super.init()
    }

    /// The environment of the user that this process runs as; always the same object.
    public class var currentUser: LAEnvironment {
        let parts = ContextParts.current
        return parts.only.one { LAEnvironment(ObservedMachine(parts)) }
    }

    /// The current state of the machine.
    ///
    /// It checks the machine on every call, and blocks the caller as `canEvaluatePolicy` does.
    public var state: State { WorkerThread.preflights.wait { [machine] in await machine.state() } }

    /// Adds an observer, which is called for every change as long as it lives.
    ///
    /// An observer that was already added is not added again. This blocks the caller for one look at the machine.
    public func addObserver(_ observer: any Observer) {
        observers.add(observer, to: self)
    }

    /// Removes an observer; a call that has already been scheduled is still made.
    public func removeObserver(_ observer: any Observer) {
        observers.remove(observer)
    }
}

extension LAEnvironment.Observer {
    /// Does nothing.
    public func environment(
        _ environment: LAEnvironment,
        stateDidChangeFromOldState oldState: LAEnvironment.State
    ) {}
}
