// SPDX-License-Identifier: Apache-2.0

internal import Keychain

/// What a right asks of the owner before it is granted.
public final class LAAuthenticationRequirement: NSObject, Sendable {
    /// What an access control has for it.
    let flags: SecAccessControlCreateFlags

    private init(_ flags: SecAccessControlCreateFlags) {
        self.flags = flags
        super.init()
    }

    /// A finger or the passcode.
    public class var `default`: LAAuthenticationRequirement { LAAuthenticationRequirement(.userPresence) }
    /// Any enrolled finger.
    public class var biometry: LAAuthenticationRequirement { LAAuthenticationRequirement(.biometryAny) }
    /// A finger of the present set.
    ///
    /// A right that is not saved is asked about once and remembers no set: for it this is ``biometry``.
    public class var biometryCurrentSet: LAAuthenticationRequirement {
        LAAuthenticationRequirement(.biometryCurrentSet)
    }

    /// Any enrolled finger, or something else where a finger is not there or not wanted.
    ///
    /// Both fallbacks are the passcode on Linux, so that it is ``default``.
    public class func biometry(fallback: LABiometryFallbackRequirement) -> LAAuthenticationRequirement {
        LAAuthenticationRequirement(.userPresence)
    }

    /// Whether the other asks for the same.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? LAAuthenticationRequirement)?.flags == flags
    }

    /// Hashes what is asked for.
    public override var hash: Int { flags.hashValue }

    /// Whether only a finger meets it.
    var needsFinger: Bool { !flags.contains(.userPresence) }

    /// What a stored access control asks for; `nil` for one that no right has.
    init?(stored access: SecAccessControl) {
        let flags = access.flags.subtracting(.privateKeyUsage)
        guard [.userPresence, .biometryAny, .biometryCurrentSet].contains(flags) else { return nil }
        self.flags = flags
        super.init()
    }

    /// What guards something that asks for this.
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

/// What may stand in for a finger.
public final class LABiometryFallbackRequirement: NSObject, Sendable {
    private override init() { super.init() }

    /// Whatever the machine has besides fingers: the passcode.
    public class var `default`: LABiometryFallbackRequirement { LABiometryFallbackRequirement() }
    /// The passcode.
    public class var devicePasscode: LABiometryFallbackRequirement { LABiometryFallbackRequirement() }
}
