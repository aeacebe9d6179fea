// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
public import Foundation
internal import WhorlSupport
internal import WhorlService

/// The methods by which this machine can recognize its owner, and the observers of their changes.
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

extension LAEnvironment {
    /// The methods by which a machine can recognize its owner, at one moment; states with the same content are equal.
    public final class State: NSObject, NSCopying, Sendable {
        /// The fingerprint reader; `nil` while none is connected.
        public let biometry: MechanismBiometry?
        /// The passcode; this mechanism always exists, whether or not a passcode is set.
        public let userPassword: MechanismUserPassword?
        /// The paired devices; always empty.
        public var companions: [MechanismCompanion] { [] }
        /// All mechanisms.
        public var allMechanisms: [Mechanism] { [biometry, userPassword].compactMap(\.self) }

        init(_ preflight: Preflight) {
            biometry = preflight.hasReader ? MechanismBiometry(preflight) : nil
            userPassword = MechanismUserPassword(isSet: preflight.isPasscodeSet)
            super.init()
        }

        /// Returns the state itself, which never changes.
        public func copy(with zone: NSZone? = nil) -> Any { self }

        /// Whether all mechanisms are equal.
        public override func isEqual(_ object: Any?) -> Bool {
            guard let other = object as? State else { return false }
            return biometry == other.biometry && userPassword == other.userPassword
        }

        /// Hashes all mechanisms.
        public override var hash: Int {
            var hasher = Hasher()
            hasher.combine(biometry)
            hasher.combine(userPassword)
            return hasher.finalize()
        }
    }
}

extension LAEnvironment {
    /// A method of recognizing the owner.
    ///
    /// It is `@unchecked Sendable` since the compiler cannot check a class with subclasses: none of their properties
    /// ever changes, and other modules cannot create them.
    public class Mechanism: NSObject, @unchecked Sendable {
        /// Whether it can be used now; `canEvaluatePolicy` returns the reason if not.
        public let isUsable: Bool
        /// A name to show to people.
        public let localizedName: String
        /// The name of Apple's symbol for it; Linux does not have these symbols, but icons of a theme can be chosen by
        /// it.
        public let iconSystemName: String

        init(isUsable: Bool, localizedName: String, iconSystemName: String) {
            self.isUsable = isUsable
            self.localizedName = localizedName
            self.iconSystemName = iconSystemName
            super.init()
        }

        /// The values that are compared for equality, in addition to the class.
        fileprivate var content: [AnyHashable] { [isUsable, localizedName] }

        /// Whether the other mechanism has the same class and the same content.
        public override func isEqual(_ object: Any?) -> Bool {
            guard let other = object as? Mechanism else { return false }
            return type(of: other) == type(of: self) && other.content == content
        }

        /// Hashes the content.
        public override var hash: Int { content.hashValue }
    }

    /// Fingers on a reader.
    public final class MechanismBiometry: Mechanism, @unchecked Sendable {
        /// Always ``LABiometryType/touchID``.
        public let biometryType: LABiometryType
        /// Whether a finger is enrolled for the connected reader.
        public let isEnrolled: Bool
        /// Whether fingers are locked after too many failures.
        public let isLockedOut: Bool
        /// 32 bytes that change with each finger that is added or removed; empty while none is enrolled.
        ///
        /// The same as ``LADomainStateBiometry/stateHash``.
        public let stateHash: Data
        /// Whether a built-in reader cannot be reached, as behind a closed lid; Linux cannot detect this, so it is
        /// `false`.
        public let builtInSensorInaccessible = false

        init(_ preflight: Preflight) {
            biometryType = .touchID
            isEnrolled = preflight.hasEnrolledFinger
            isLockedOut = preflight.obstacle?.code == .biometryLockout
            stateHash = preflight.domainState ?? Data()
            super.init(
                isUsable: preflight.canEvaluate,
                localizedName: "Touch ID",
                iconSystemName: "touchid"
            )
        }

        fileprivate override var content: [AnyHashable] {
            super.content + [isEnrolled, isLockedOut, stateHash]
        }
    }

    /// The passcode.
    public final class MechanismUserPassword: Mechanism, @unchecked Sendable {
        /// Whether one is set.
        public let isSet: Bool

        init(isSet: Bool) {
            self.isSet = isSet
            super.init(isUsable: isSet, localizedName: "User Password", iconSystemName: "lock.shield")
        }

        fileprivate override var content: [AnyHashable] { super.content + [isSet] }
    }

    /// A paired device; a Linux machine has none, so there are no instances.
    public final class MechanismCompanion: Mechanism, @unchecked Sendable {
        /// The kind of device.
        public let type: LACompanionType
        /// Always `nil`.
        public var stateHash: Data? { nil }

        init(type: LACompanionType) {
            self.type = type
            super.init(isUsable: false, localizedName: "", iconSystemName: "")
        }
    }
}

extension Preflight {
    /// Whether a finger is enrolled for the connected reader.
    fileprivate var hasEnrolledFinger: Bool {
        guard domainState != nil else { return false }
        return switch obstacle?.code {
        case .biometryNotEnrolled, .biometryDisconnected: false
        default: true
        }
    }
}
