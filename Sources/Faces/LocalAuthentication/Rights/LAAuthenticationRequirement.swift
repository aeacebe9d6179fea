// SPDX-License-Identifier: Apache-2.0

internal import KeychainServices

/// The requirement that the owner must meet before a right is granted.
public final class LAAuthenticationRequirement: NSObject, Sendable {
    /// The flags of an access control with this requirement.
    let flags: SecAccessControlCreateFlags

    private init(_ flags: SecAccessControlCreateFlags) {
        self.flags = flags
        super.init()
    }

    /// A finger or the passcode.
    public class var `default`: LAAuthenticationRequirement { LAAuthenticationRequirement(.userPresence) }
    /// Any enrolled finger.
    public class var biometry: LAAuthenticationRequirement { LAAuthenticationRequirement(.biometryAny) }
    /// A finger of the current set.
    ///
    /// A right that is not saved is evaluated once and remembers no set: for it this is the same as ``biometry``.
    public class var biometryCurrentSet: LAAuthenticationRequirement {
        LAAuthenticationRequirement(.biometryCurrentSet)
    }

    /// Any enrolled finger, or a fallback if a finger is unavailable or not wanted.
    ///
    /// Both fallbacks are the passcode on Linux, so this is the same as ``default``.
    public class func biometry(fallback: LABiometryFallbackRequirement) -> LAAuthenticationRequirement {
        LAAuthenticationRequirement(.userPresence)
    }

    /// Whether the other object is the same requirement.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? LAAuthenticationRequirement)?.flags == flags
    }

    /// The hash of the requirement.
    public override var hash: Int { flags.hashValue }

    /// Whether only a finger meets this requirement.
    var needsFinger: Bool { !flags.contains(.userPresence) }

    /// Makes the requirement of a stored access control; `nil` for one that does not belong to a right.
    init?(stored access: SecAccessControl) {
        let flags = access.flags.subtracting(.privateKeyUsage)
        guard [.userPresence, .biometryAny, .biometryCurrentSet].contains(flags) else { return nil }
        self.flags = flags
        super.init()
    }

    /// Returns the access control for an item with this requirement.
    func accessControl(_ usage: SecAccessControlCreateFlags = []) -> SecAccessControl {
        guard
            let access = SecAccessControlCreateWithFlags(
                nil,
                kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
                flags.union(usage),
                nil
            )
        else { preconditionFailure("each requirement has an access control") }
        return access
    }
}

/// A fallback for a finger.
public final class LABiometryFallbackRequirement: NSObject, Sendable {
    private override init() { super.init() }

    /// The machine's default fallback: the passcode.
    public class var `default`: LABiometryFallbackRequirement { LABiometryFallbackRequirement() }
    /// The passcode.
    public class var devicePasscode: LABiometryFallbackRequirement { LABiometryFallbackRequirement() }
}
