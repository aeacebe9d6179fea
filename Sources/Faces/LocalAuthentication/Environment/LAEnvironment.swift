// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
public import Foundation
internal import WhorlSupport
internal import WhorlService

/// An environment that reports this machine's authentication mechanisms, and notifies observers of changes.
///
///     let environment = LAEnvironment.currentUser
///     environment.addObserver(screen)                    // weakly held
///     let hasTouchID = environment.state.biometry?.isUsable ?? false
///
/// Observers are notified immediately when a reader is connected or disconnected. All other changes (a finger enrolled
/// or removed by another program, a lockout, a passcode) are detected within a second, by polling the database's change
/// mark. Without observers, nothing runs in the background.
public final class LAEnvironment: NSObject, Sendable {
    /// An object that is notified when the state of the environment changes.
    ///
    /// On Apple's systems, the method of this protocol is optional. On Linux, it has a default implementation that does
    /// nothing.
    public protocol Observer: NSObjectProtocol {
        /// Called after the state has changed. At this time, `environment.state` already returns the new state.
        ///
        /// The method is called on a private serial queue.
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

    /// The shared environment of the user that this process runs as.
    public class var currentUser: LAEnvironment {
        let parts = ContextParts.current
        return parts.only.one { LAEnvironment(ObservedMachine(parts)) }
    }

    /// The current state of the machine.
    ///
    /// Like `canEvaluatePolicy`, this property checks the machine each time you read it, and blocks the caller.
    public var state: State { WorkerThread.preflights.wait { [machine] in await machine.state() } }

    /// Adds an observer, which is notified of every change until it is removed or deallocated.
    ///
    /// Adding an observer again has no effect. The call checks the machine once, and blocks the caller until the check
    /// is done.
    public func addObserver(_ observer: any Observer) {
        observers.add(observer, to: self)
    }

    /// Removes an observer.
    ///
    /// A notification that is already scheduled is still delivered.
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
    /// The authentication mechanisms of a machine at a point in time.
    ///
    /// States with the same content are equal.
    public final class State: NSObject, NSCopying, Sendable {
        /// The fingerprint reader, or `nil` while none is connected.
        public let biometry: MechanismBiometry?
        /// The passcode.
        ///
        /// This mechanism always exists, even if no passcode is set.
        public let userPassword: MechanismUserPassword?
        /// The paired devices; always empty.
        public var companions: [MechanismCompanion] { [] }
        /// All mechanisms of the machine.
        public var allMechanisms: [Mechanism] { [biometry, userPassword].compactMap(\.self) }

        init(_ preflight: Preflight) {
            biometry = preflight.hasReader ? MechanismBiometry(preflight) : nil
            userPassword = MechanismUserPassword(isSet: preflight.isPasscodeSet)
            super.init()
        }

        /// Returns the state itself, which never changes.
        public func copy(with zone: NSZone? = nil) -> Any { self }

        /// Returns whether the other state has the same mechanisms.
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
    /// The class is `@unchecked Sendable` because the compiler cannot check a class with subclasses. The properties of
    /// mechanisms never change, and other modules cannot create mechanisms.
    public class Mechanism: NSObject, @unchecked Sendable {
        /// Whether the mechanism can be used now.
        ///
        /// If this is `false`, `canEvaluatePolicy` returns the reason.
        public let isUsable: Bool
        /// The user-visible name of the mechanism.
        public let localizedName: String
        /// The name of Apple's symbol for the mechanism.
        ///
        /// Linux does not have these symbols, but the name can be used to choose an icon from a theme.
        public let iconSystemName: String

        init(isUsable: Bool, localizedName: String, iconSystemName: String) {
            self.isUsable = isUsable
            self.localizedName = localizedName
            self.iconSystemName = iconSystemName
            super.init()
        }

        /// The values that are compared for equality, in addition to the class.
        fileprivate var content: [AnyHashable] { [isUsable, localizedName] }

        /// Returns whether the other mechanism has the same class and the same content.
        public override func isEqual(_ object: Any?) -> Bool {
            guard let other = object as? Mechanism else { return false }
            return type(of: other) == type(of: self) && other.content == content
        }

        /// Hashes the content.
        public override var hash: Int { content.hashValue }
    }

    /// The fingerprint recognition mechanism.
    public final class MechanismBiometry: Mechanism, @unchecked Sendable {
        /// Always ``LABiometryType/touchID``.
        public let biometryType: LABiometryType
        /// Whether a finger is enrolled for the connected reader.
        public let isEnrolled: Bool
        /// Whether fingers are locked out because too many tries failed.
        public let isLockedOut: Bool
        /// A hash of the enrolled fingers: 32 bytes that change whenever a finger is added or removed, or empty data
        /// while no finger is enrolled.
        ///
        /// This is the same value as ``LADomainStateBiometry/stateHash``.
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
    /// Instances never exist, because Linux machines never have paired devices.
    public final class MechanismCompanion: Mechanism, @unchecked Sendable {
        /// The kind of paired device.
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
