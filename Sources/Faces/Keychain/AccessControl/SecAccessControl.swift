// SPDX-License-Identifier: Apache-2.0

/// What must be shown before a protected item is opened, and when an item can be opened at all.
///
/// Made by ``SecAccessControlCreateWithFlags(_:_:_:_:)``; two are equal when their protection and their flags are.
public final class SecAccessControl: NSObject, Sendable {
    /// One of the `kSecAttrAccessible…` values.
    package let protection: String
    /// What must be shown.
    package let flags: SecAccessControlCreateFlags

    init(protection: String, flags: SecAccessControlCreateFlags) {
        self.protection = protection
        self.flags = flags
        super.init()
    }

    /// Whether the other has the same protection and asks for the same.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecAccessControl else { return false }
        return other.protection == protection && other.demanded == demanded
    }

    /// The flags in one form: `and` is what holds without a word, and one constraint needs neither.
    private var demanded: SecAccessControlCreateFlags {
        let constraints = flags.intersection(.constraints)
        let isOne = constraints.rawValue.nonzeroBitCount < 2
        return flags.subtracting(isOne ? [.and, .or] : .and)
    }

    /// Hashes protection and what is asked for.
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(protection)
        hasher.combine(demanded.rawValue)
        return hasher.finalize()
    }

    /// Protection and flags, for people.
    public override var description: String { "<SecAccessControl: \(protection), flags \(flags.rawValue)>" }
}

/// What must be shown, as a set of flags; the raw values are Apple's.
public struct SecAccessControlCreateFlags: OptionSet, Hashable, Sendable {
    /// The flags as bits.
    public let rawValue: CFOptionFlags
    /// Takes bits.
    public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }

    /// A finger or the passcode.
    public static let userPresence = SecAccessControlCreateFlags(rawValue: 1 << 0)
    /// Any enrolled finger, also one that is added later.
    public static let biometryAny = SecAccessControlCreateFlags(rawValue: 1 << 1)
    /// The earlier name of ``biometryAny``.
    public static let touchIDAny = biometryAny
    /// A finger of the set as it is when the item is made; adding or removing one ends the item for good.
    public static let biometryCurrentSet = SecAccessControlCreateFlags(rawValue: 1 << 3)
    /// The earlier name of ``biometryCurrentSet``.
    public static let touchIDCurrentSet = biometryCurrentSet
    /// The passcode.
    public static let devicePasscode = SecAccessControlCreateFlags(rawValue: 1 << 4)
    /// A paired device close by; no Linux machine has one, so alone it is never met.
    public static let companion = SecAccessControlCreateFlags(rawValue: 1 << 5)
    /// The earlier name of ``companion``.
    public static let watch = companion
    /// Any one of the constraints is enough.
    public static let or = SecAccessControlCreateFlags(rawValue: 1 << 14)
    /// All of the constraints are needed, which is the default.
    public static let and = SecAccessControlCreateFlags(rawValue: 1 << 15)
    /// The constraints guard the use of a private key.
    public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)
    /// A password of the program's own besides.
    public static let applicationPassword = SecAccessControlCreateFlags(rawValue: 1 << 31)

    /// What somebody shows.
    static let constraints: SecAccessControlCreateFlags = [
        .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion,
    ]
    static let all: SecAccessControlCreateFlags = [
        constraints, .or, .and, .privateKeyUsage, .applicationPassword,
    ]
}

/// Makes an access control.
///
/// - Parameters:
///   - allocator: Counts for nothing.
///   - protection: One of the seven `kSecAttrAccessible…` values.
///   - flags: What must be shown. More than one constraint without ``SecAccessControlCreateFlags/or`` means all of them.
///   - error: Where to leave an error with `errSecParam`.
/// - Returns: `nil` for another protection, `or` together with `and`, `biometryAny` together with `biometryCurrentSet`,
///   `userPresence` together with another constraint or a connective, and unknown flags.
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
    else { return refuse("the protection is none of the kSecAttrAccessible values") }
    guard flags.isSubset(of: .all) else { return refuse("there are flags without a meaning") }
    guard !flags.isSuperset(of: [.or, .and]) else { return refuse("`or` and `and` exclude each other") }
    guard !flags.isSuperset(of: [.biometryAny, .biometryCurrentSet]) else {
        return refuse("biometryAny and biometryCurrentSet exclude each other")
    }
    if flags.contains(.userPresence),
        !flags.isSubset(of: [.userPresence, .applicationPassword, .privateKeyUsage])
    {
        return refuse("userPresence takes no other constraint")
    }
    return SecAccessControl(protection: protection, flags: flags)
}

/// The type's number, which no other class here has.
public func SecAccessControlGetTypeID() -> CFTypeID { 0x5345_4301 }

extension NSError {
    /// An error with a Security status, in words.
    package convenience init(status: OSStatus, _ reason: String) {
        self.init(
            domain: NSOSStatusErrorDomain,
            code: Int(status),
            userInfo: [NSLocalizedDescriptionKey: reason]
        )
    }
}
