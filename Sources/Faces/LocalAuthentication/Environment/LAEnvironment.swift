// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
public import Foundation
internal import WhorlSupport
internal import WhorlService

/// The authentication mechanisms of this machine, and the observers of their changes.
///
///     let environment = LAEnvironment.currentUser
///     environment.addObserver(screen)                    // weakly held
///     let hasTouchID = environment.state.biometry?.isUsable ?? false
///
/// Observers are notified immediately when a reader is plugged in or out. All other changes (a finger enrolled or
/// removed by another program, a lockout, a passcode) are noticed within a second, by reading the database's change
/// mark. Without observers, nothing runs in the background.
public final class LAEnvironment: NSObject, Sendable {
    /// An object that is notified when the state of the environment changes.
    ///
    /// On Apple's systems, its method is optional. Here, it has an implementation that does nothing.
    public protocol Observer: NSObjectProtocol {
        /// Called after the state has changed. `environment.state` is already the new state.
        ///
        /// The calls are made on a private queue, one after the other.
        ///
        /// - Parameters:
        ///   - environment: The environment whose state has changed.
        ///   - oldState: The previously reported state.
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

    /// The environment of the user as whom this process runs; always the same object.
    public class var currentUser: LAEnvironment {
        let parts = ContextParts.current
        return parts.only.one { LAEnvironment(ObservedMachine(parts)) }
    }

    /// The current state of the machine.
    ///
    /// Like `canEvaluatePolicy`, it checks the machine on every call and blocks the caller.
    public var state: State { WorkerThread.preflights.wait { [machine] in await machine.state() } }

    /// Adds an observer, which is called for every change during its lifetime.
    ///
    /// Adding an observer again has no effect. This blocks the caller while it checks the machine once.
    public func addObserver(_ observer: any Observer) {
        observers.add(observer, to: self)
    }

    /// Removes an observer.
    ///
    /// A call that is already scheduled still takes place.
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
    /// The authentication mechanisms of a machine at one moment.
    ///
    /// States with the same content are equal.
    public final class State: NSObject, NSCopying, Sendable {
        /// The fingerprint reader; `nil` while none is connected.
        public let biometry: MechanismBiometry?
        /// The passcode.
        ///
        /// This mechanism always exists, even if no passcode is set.
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

        /// Returns whether all mechanisms are equal.
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
    /// An authentication mechanism.
    ///
    /// It is `@unchecked Sendable` because the compiler cannot check a class with subclasses. Their properties never
    /// change, and other modules cannot create them.
    public class Mechanism: NSObject, @unchecked Sendable {
        /// Whether it can be used now.
        ///
        /// If not, `canEvaluatePolicy` returns the reason.
        public let isUsable: Bool
        /// The user-visible name.
        public let localizedName: String
        /// Apple's symbol name.
        ///
        /// Linux does not have these symbols, but the name can be used to choose an icon from a theme.
        public let iconSystemName: String

        init(isUsable: Bool, localizedName: String, iconSystemName: String) {
            self.isUsable = isUsable
            self.localizedName = localizedName
            self.iconSystemName = iconSystemName
            super.init()
        }

        /// The values compared for equality, in addition to the class.
        fileprivate var content: [AnyHashable] { [isUsable, localizedName] }

        /// Returns whether the other mechanism has the same class and the same content.
        public override func isEqual(_ object: Any?) -> Bool {
            guard let other = object as? Mechanism else { return false }
            return type(of: other) == type(of: self) && other.content == content
        }

        /// Hashes the content.
        public override var hash: Int { content.hashValue }
    }

    /// Fingerprint recognition.
    public final class MechanismBiometry: Mechanism, @unchecked Sendable {
        /// Always ``LABiometryType/touchID``.
        public let biometryType: LABiometryType
        /// Whether a finger is enrolled for the connected reader.
        public let isEnrolled: Bool
        /// Whether fingers are locked out after too many failures.
        public let isLockedOut: Bool
        /// 32 bytes that change whenever a finger is added or removed; empty while none is enrolled.
        ///
        /// Equal to ``LADomainStateBiometry/stateHash``.
        public let stateHash: Data
        /// Whether a built-in reader is inaccessible, such as behind a closed lid.
        ///
        /// Always `false`, because Linux cannot detect this.
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
        /// Whether a passcode is set.
        public let isSet: Bool

        init(isSet: Bool) {
            self.isSet = isSet
            super.init(isUsable: isSet, localizedName: "User Password", iconSystemName: "lock.shield")
        }

        fileprivate override var content: [AnyHashable] { super.content + [isSet] }
    }

    /// A paired device.
    ///
    /// There are no instances, because Linux machines do not have any.
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
