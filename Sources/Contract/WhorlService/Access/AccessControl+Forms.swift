// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
internal import WhorlSupport

/// The text form of an access control, for users.
///
/// Examples are `biometry-any`, `biometry-current-set-or-passcode`, `user-presence+application-password`, `none+pcrs:7`
/// and `biometry-any+two-fingers`.
extension AccessControl {
    /// The maximum length of the text form, in bytes.
    private static let longestText = 500

    private static let names: [(name: String, access: AccessControl)] = [
        ("none", .none),
        ("biometry-any", .biometryAny),
        ("biometry-current-set", .biometryCurrentSet),
        ("passcode", .devicePasscode),
        ("user-presence", .userPresence),
    ]

    /// Creates an access control from its text form.
    ///
    /// `-and-` binds more tightly than `-or-`.
    ///
    /// - Throws: ``ServiceError/Code/accessRefused``, which names the part that was refused.
    public init(_ text: String) throws(ServiceError) {
        guard text.utf8.count <= AccessControl.longestText else {
            throw .accessRefused(because: "it is too long")
        }
        var rest = text[...]
        var access = try AccessControl.plain(String(rest.takeWord()))
        while !rest.isEmpty {
            // The strength comes last because a reader's ID may contain a `+`.
            if rest != "any", let strength = TouchStrength(String(rest)) {
                access = try access.demanding(strength)
                break
            }
            let part = rest.takeWord()
            switch part {
            case "application-password" where !access.needsApplicationPassword:
                access = access.withApplicationPassword
            case _ where part.hasPrefix("pcrs:") && access.pcrs == nil:
                access = try access.boundToBoot(try AccessControl.registers(part.dropFirst(5)))
            default: throw AccessControl.unknown(String(part))
            }
        }
        guard !text.hasSuffix("+") else { throw AccessControl.unknown("+") }
        self = access
    }

    /// The text form, as accepted by the initializer.
    public var text: String {
        let plain = AccessControl.names.first { $0.access.ways == ways }?.name
        var text = plain ?? ways.map(\.text).joined(separator: "-or-")
        if needsApplicationPassword { text += "+application-password" }
        if let pcrs { text += "+pcrs:" + pcrs.registers.map(String.init).joined(separator: ",") }
        if strength != .any { text += "+" + strength.text }
        return text
    }

    private static func plain(_ text: String) throws(ServiceError) -> AccessControl {
        var whole: AccessControl?
        for alternative in text.components(separatedBy: "-or-") {
            var needed: AccessControl?
            for name in alternative.components(separatedBy: "-and-") {
                guard let named = names.first(where: { $0.name == name }) else { throw unknown(name) }
                needed = if let needed { try both(needed, named.access) } else { named.access }
            }
            guard let needed else { throw unknown(alternative) }
            whole = if let whole { try either(whole, needed) } else { needed }
        }
        guard let whole else { throw unknown(text) }
        return whole
    }

    private static func registers(_ text: Substring) throws(ServiceError) -> BootRegisters {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        guard !numbers.contains(nil) else { throw unknown("pcrs:" + text) }
        return try BootRegisters(numbers.compactMap { $0 })
    }

    private static func unknown(_ part: String) -> ServiceError {
        // Repeat only printable ASCII characters: the text is untrusted.
        let shown = part.unicodeScalars.filter { $0.isASCII && $0.value > 32 && $0.value < 127 }
        return .accessRefused(because: "\"\(String(String.UnicodeScalarView(shown)))\" is not known")
    }
}

extension AccessWay {
    fileprivate var text: String {
        var names: [String] = []
        if contains(.biometryCurrentSet) {
            names.append("biometry-current-set")
        } else if contains(.biometryAny) {
            names.append("biometry-any")
        }
        if contains(.devicePasscode) { names.append("passcode") }
        return names.isEmpty ? "none" : names.joined(separator: "-and-")
    }
}

extension Substring {
    /// Removes the first word and the `+` that follows it, and returns the word.
    fileprivate mutating func takeWord() -> Substring {
        let word = prefix { $0 != "+" }
        self = dropFirst(word.count + 1)
        return word
    }
}

/// The stored form, which is unique for each access control.
extension AccessControl {
    /// The encoded form.
    ///
    /// It consists of the version, the flags, the register mask (4 bytes), the number of ways, and one byte for each
    /// way. If the last flag is set, the strength follows as text.
    package var encoded: Data {
        var bytes = ByteWriter()
        bytes.append(UInt8(1))
        bytes.append(UInt8(needsApplicationPassword ? 1 : 0) | (strength == .any ? 0 : 2))
        bytes.append(pcrs?.mask ?? 0)
        bytes.append(UInt8(clamping: ways.count))
        for way in ways { bytes.append(way.rawValue) }
        if strength != .any { bytes.append(sized: strength.text) }
        return Data(bytes.bytes)
    }

    /// Decodes an access control; returns `nil` if the data is not the output of ``encoded``.
    package init?(encoded: Data) {
        var bytes = ByteReader(encoded)
        guard bytes.number(UInt8.self) == 1, let flags = bytes.number(UInt8.self), flags <= 3,
            let mask = bytes.number(UInt32.self), let count = bytes.number(UInt8.self),
            (1...4).contains(count),
            let ways = bytes.take(Int(count))
        else { return nil }
        var strength = TouchStrength.any
        if flags & 2 != 0 {
            guard let text = bytes.text(), let demanded = TouchStrength(text), demanded != .any,
                demanded.text == text
            else { return nil }
            strength = demanded
        }
        guard bytes.isAtEnd else { return nil }
        var pcrs: BootRegisters?
        if mask != 0 {
            guard let selection = BootRegisters(mask: mask) else { return nil }
            pcrs = selection
        }
        // 2 alone would be one bit of biometryCurrentSet without the other.
        guard ways.allSatisfy({ $0 < 8 && $0 & 3 != 2 }) else { return nil }
        self.init(
            ways: ways.map(AccessWay.init(rawValue:)),
            needsApplicationPassword: flags & 1 != 0,
            pcrs: pcrs,
            strength: strength
        )
    }
}
