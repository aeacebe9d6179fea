// SPDX-License-Identifier: Apache-2.0

package import Foundation
internal import WhorlSupport

/// The text that people write: `biometry-any`, `biometry-current-set-or-passcode`,
/// `user-presence+application-password`, `none+pcrs:7`.
extension AccessControl {
    /// The length in bytes up to which texts are parsed.
    private static let longestText = 200

    private static let names: [(name: String, access: AccessControl)] = [
        ("none", .none),
        ("biometry-any", .biometryAny),
        ("biometry-current-set", .biometryCurrentSet),
        ("passcode", .devicePasscode),
        ("user-presence", .userPresence),
    ]

    /// Reads an access control.
    ///
    /// `-and-` binds more tightly than `-or-`.
    ///
    /// - Throws: ``VaultError/Code/accessRefused(_:)``, which names the refused part.
    public init(_ text: String) throws(VaultError) {
        guard text.utf8.count <= AccessControl.longestText else {
            throw VaultError(.accessRefused("it is too long"))
        }
        var parts = text.components(separatedBy: "+")[...]
        var access = try AccessControl.plain(parts.popFirst() ?? "")
        for part in parts {
            switch part {
            case "application-password" where !access.needsApplicationPassword:
                access = access.withApplicationPassword
            case _ where part.hasPrefix("pcrs:") && access.pcrs == nil:
                access = try access.boundToBoot(try AccessControl.registers(part.dropFirst(5)))
            default: throw AccessControl.unknown(part)
            }
        }
        self = access
    }

    /// The text from which the same access control can be read.
    public var text: String {
        let plain = AccessControl.names.first { $0.access.ways == ways }?.name
        var text = plain ?? ways.map(\.text).joined(separator: "-or-")
        if needsApplicationPassword { text += "+application-password" }
        if let pcrs { text += "+pcrs:" + pcrs.registers.map(String.init).joined(separator: ",") }
        return text
    }

    private static func plain(_ text: String) throws(VaultError) -> AccessControl {
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

    private static func registers(_ text: Substring) throws(VaultError) -> BootRegisters {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        guard !numbers.contains(nil) else { throw unknown("pcrs:" + text) }
        return try BootRegisters(numbers.compactMap { $0 })
    }

    private static func unknown(_ part: String) -> VaultError {
        // Only printable ASCII characters are repeated: the text may come from anywhere.
        let shown = part.unicodeScalars.filter { $0.isASCII && $0.value > 32 && $0.value < 127 }
        return VaultError(.accessRefused("\"\(String(String.UnicodeScalarView(shown)))\" is not known"))
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

/// The stored form, which is unique for each access control.
extension AccessControl {
    /// The encoded form: version, flags, the registers' mask in 4 bytes, the number of ways, each way in a byte.
    package var encoded: Data {
        var bytes = ByteWriter()
        bytes.append(UInt8(1))
        bytes.append(UInt8(needsApplicationPassword ? 1 : 0))
        bytes.append(pcrs?.mask ?? 0)
        bytes.append(UInt8(clamping: ways.count))
        for way in ways { bytes.append(way.rawValue) }
        return bytes.data
    }

    /// Reads the encoded form; `nil` for anything that ``encoded`` does not give.
    package init?(encoded: Data) {
        var bytes = ByteReader(encoded)
        guard bytes.number(UInt8.self) == 1, let flags = bytes.number(UInt8.self), flags <= 1,
            let mask = bytes.number(UInt32.self), let count = bytes.number(UInt8.self),
            (1...4).contains(count),
            let ways = bytes.take(Int(count)), bytes.isAtEnd
        else { return nil }
        var pcrs: BootRegisters?
        if mask != 0 {
            guard let selection = BootRegisters(mask: mask) else { return nil }
            pcrs = selection
        }
        // 2 alone would be a bit of biometryCurrentSet without the other.
        guard ways.allSatisfy({ $0 < 8 && $0 & 3 != 2 }) else { return nil }
        self.init(
            ways: ways.map(AccessWay.init(rawValue:)),
            needsApplicationPassword: flags == 1,
            pcrs: pcrs
        )
    }
}
