// SPDX-License-Identifier: Apache-2.0

internal import Authentication
internal import AuthenticationContext
public import Foundation

/// How this machine can recognise its owner, and who wants to know when that changes.
///
///     let environment = LAEnvironment.currentUser
///     environment.addObserver(screen)                    // weakly held
///     let hasTouchID = environment.state.biometry?.isUsable ?? false
///
/// While somebody observes, a reader that is plugged in or out is an event; everything else (a finger enrolled or removed by
/// another program, a lockout, a passcode) is noticed within a second, by a look at the database's change mark. Without
/// observers nothing runs.
public final class LAEnvironment: NSObject, Sendable {
    /// Is told when the state of the environment changes.
    ///
    /// On Apple's systems the one method is optional; here it has an implementation that does nothing.
    public protocol Observer: NSObjectProtocol {
        /// The state has changed; `environment.state` is the new one already.
        ///
        /// It comes on a private queue, one call after the other.
        ///
        /// - Parameters:
        ///   - environment: Whose state.
        ///   - oldState: The state that was told before.
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

    /// What the machine is like now.
    ///
    /// It looks anew each time, and blocks the caller as `canEvaluatePolicy` does.
    public var state: State { WorkerThread.preflights.wait { [machine] in await machine.state() } }

    /// Tells an observer of every change from now on, as long as it lives.
    ///
    /// One that is there already is not added again. It blocks the caller for one look at the machine.
    public func addObserver(_ observer: any Observer) {
        observers.add(observer, to: self)
    }

    /// Tells an observer no more; a call that is on its way still comes.
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
