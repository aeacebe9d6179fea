// SPDX-License-Identifier: Apache-2.0

package import WhorlService

/// The authentication that a protected item requires, and the times at which the item can be opened.
///
/// Create one with ``SecAccessControlCreateWithFlags(_:_:_:_:)``. Two access controls are equal if their protection and
/// their flags are equal.
public final class SecAccessControl: NSObject, Sendable {
    /// The protection: one of the `kSecAttrAccessible…` values.
    package let protection: String
    /// The required authentication, as flags.
    package let flags: SecAccessControlCreateFlags

    init(protection: String, flags: SecAccessControlCreateFlags) {
        self.protection = protection
        self.flags = flags
        super.init()
    }

    /// Returns whether the other access control has the same protection and requires the same authentication.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecAccessControl else { return false }
        return other.protection == protection && other.demanded == demanded
    }

    /// The flags in canonical form: without `and`, which is the default, and without a connective for a single
    /// constraint.
    private var demanded: SecAccessControlCreateFlags {
        let constraints = flags.intersection(.constraints)
        let isOne = constraints.rawValue.nonzeroBitCount < 2
        return flags.subtracting(isOne ? [.and, .or] : .and)
    }

    /// Hashes the protection and the required authentication.
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(protection)
        hasher.combine(demanded.rawValue)
        return hasher.finalize()
    }

    /// A human-readable description that contains the protection and the flags.
    public override var description: String { "<SecAccessControl: \(protection), flags \(flags.rawValue)>" }
}

/// The authentication that an access control requires, as a set of flags with Apple's raw values.
public struct SecAccessControlCreateFlags: OptionSet, Hashable, Sendable {
    /// The flags as a bit mask.
    public let rawValue: CFOptionFlags
    /// Creates a set of flags from a bit mask.
    public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }

    /// A fingerprint or the passcode.
    public static let userPresence = SecAccessControlCreateFlags(rawValue: 1 << 0)
    /// Any enrolled finger, including fingers added later.
    public static let biometryAny = SecAccessControlCreateFlags(rawValue: 1 << 1)
    /// The earlier name of ``biometryAny``.
    public static let touchIDAny = biometryAny
    /// A finger that is already enrolled when the item is created.
    ///
    /// Adding or removing a finger makes the item permanently unusable.
    public static let biometryCurrentSet = SecAccessControlCreateFlags(rawValue: 1 << 3)
    /// The earlier name of ``biometryCurrentSet``.
    public static let touchIDCurrentSet = biometryCurrentSet
    /// The passcode.
    public static let devicePasscode = SecAccessControlCreateFlags(rawValue: 1 << 4)
    /// A paired device nearby.
    ///
    /// Linux machines never have paired devices, so this constraint alone cannot be met.
    public static let companion = SecAccessControlCreateFlags(rawValue: 1 << 5)
    /// The earlier name of ``companion``.
    public static let watch = companion
    /// A flag that requires any one of the constraints to be met.
    public static let or = SecAccessControlCreateFlags(rawValue: 1 << 14)
    /// A flag that requires all of the constraints to be met, which is the default.
    public static let and = SecAccessControlCreateFlags(rawValue: 1 << 15)
    /// A flag that applies the constraints to the use of a private key.
    public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)
    /// A password that the program supplies, in addition to the other constraints.
    public static let applicationPassword = SecAccessControlCreateFlags(rawValue: 1 << 31)

    /// The flags that require the owner to authenticate.
    static let constraints: SecAccessControlCreateFlags = [
        .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion,
    ]
    /// The flags that protect an item, by requiring the owner to authenticate or the program to supply a password.
    static let protecting: SecAccessControlCreateFlags = [constraints, .applicationPassword]
    static let all: SecAccessControlCreateFlags = [
        constraints, .or, .and, .privateKeyUsage, .applicationPassword,
    ]
}

/// Creates an access control.
///
/// - Parameters:
///   - allocator: Ignored.
///   - protection: One of the seven `kSecAttrAccessible…` values.
///   - flags: The required authentication. If there are several constraints, all of them must be met unless the flags
///     include ``SecAccessControlCreateFlags/or``.
///   - error: On failure, receives an error with the code `errSecParam`.
/// - Returns: The access control, or `nil` for an unknown protection, unknown flags, and these combinations: `or` with
///   `and`, `biometryAny` with `biometryCurrentSet`, or `userPresence` with another constraint or a connective.
@discardableResult
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?,
    _ protection: CFTypeRef,
    _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
    func refuse(_ why: String) -> SecAccessControl? {
        error?.pointee = .passRetained(NSError(status: errSecParam, why))
        return nil
    }
    guard let protection = (protection as? NSString).map(String.init(describing:)),
        accessibleValues.contains(protection)
    else { return refuse("the protection is not a kSecAttrAccessible value") }
    guard flags.isSubset(of: .all) else { return refuse("the flags contain unknown values") }
    guard !flags.isSuperset(of: [.or, .and]) else { return refuse("`or` and `and` cannot be combined") }
    guard !flags.isSuperset(of: [.biometryAny, .biometryCurrentSet]) else {
        return refuse("biometryAny and biometryCurrentSet cannot be combined")
    }
    if flags.contains(.userPresence),
        !flags.isSubset(of: [.userPresence, .applicationPassword, .privateKeyUsage])
    {
        return refuse("userPresence cannot be combined with other constraints")
    }
    return SecAccessControl(protection: protection, flags: flags)
}

/// Returns the type identifier of access controls, which is unique within this package.
public func SecAccessControlGetTypeID() -> CFTypeID { 0x5345_4301 }

extension NSError {
    /// Creates an error with a status of the Security framework and a description.
    package convenience init(status: OSStatus, _ reason: String) {
        self.init(
            domain: NSOSStatusErrorDomain,
            code: Int(status),
            userInfo: [NSLocalizedDescriptionKey: reason]
        )
    }
}

extension SecAccessControl {
    /// Whether opening the item requires the owner to authenticate, or an application password.
    package var isConstrained: Bool {
        !flags.isDisjoint(with: .protecting)
    }

    /// Returns the access control that the TPM enforces.
    ///
    /// Companion devices do not exist on Linux. If the companion is one of several alternatives, it is left out. An
    /// access control that requires the companion cannot be met.
    ///
    /// - Throws: `accessRefused` if no Linux machine can meet the access control.
    package func vaultAccess() throws(ServiceError) -> AccessControl {
        var parts: [AccessControl] = []
        if flags.contains(.userPresence) { parts.append(.userPresence) }
        if flags.contains(.biometryAny) { parts.append(.biometryAny) }
        if flags.contains(.biometryCurrentSet) { parts.append(.biometryCurrentSet) }
        if flags.contains(.devicePasscode) { parts.append(.devicePasscode) }
        let isOneEnough = flags.contains(.or)
        if flags.contains(.companion), !isOneEnough || parts.isEmpty {
            throw .accessRefused(because: "Linux machines do not support companion devices")
        }
        var access = parts.first ?? .none
        for part in parts.dropFirst() {
            access = isOneEnough ? try .either(access, part) : try .both(access, part)
        }
        return flags.contains(.applicationPassword) ? access.withApplicationPassword : access
    }
}
