// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import WhorlService

extension LAEnvironment {
    /// A method of recognising the owner.
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
