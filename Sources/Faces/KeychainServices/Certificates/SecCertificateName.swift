// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// The name of a subject or an issuer (RFC 5280, 4.1.2.4).
struct DistinguishedName: Sendable {
    /// The name as encoded in the certificate.
    let der: Data
    /// The name with printable strings in uppercase and with single spaces, so that equivalent names compare as equal.
    let normalized: Data
    private let attributes: [Attribute]

    private struct Attribute: Sendable {
        let name: [UInt8]
        let text: String?
    }

    init(_ node: ASN1Node) throws {
        der = Data(node.encodedBytes)
        var attributes: [Attribute] = []
        var sequence: [[UInt8]] = []
        var sets = try node.fields(.sequence)
        while let set = sets.nextOrNone() {
            var members: [[UInt8]] = []
            var pairs = try set.fields(.set)
            while let pair = pairs.nextOrNone() {
                var parts = try pair.fields(.sequence)
                let name = try parts.next()
                let value = try parts.next()
                try parts.end()
                attributes.append(
                    Attribute(name: Array(try name.value(.objectIdentifier)), text: value.text)
                )
                members.append(
                    DistinguishedName.wrap(0x30, Array(name.encodedBytes) + value.normalizedText)
                )
            }
            sequence.append(DistinguishedName.wrap(0x31, members.flatMap(\.self)))
        }
        self.attributes = attributes
        normalized = Data(DistinguishedName.wrap(0x30, sequence.flatMap(\.self)))
    }

    /// Parses a `Name` in DER, or returns `nil` for anything else and for more than 64 KiB.
    init?(_ bytes: Data) {
        guard bytes.count <= 64 << 10 else { return nil }
        do { try self.init(DER.parse([UInt8](bytes))) } catch { return nil }
    }

    /// The strings of all attributes.
    var texts: [String] { attributes.compactMap(\.text) }

    /// The strings of the `emailAddress` attributes (PKCS #9).
    var emailAddresses: [String] {
        attributes.filter { $0.name == [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x01] }
            .compactMap(\.text)
    }

    /// Returns the last string with the attribute type 2.5.4.`number`, which is the most specific one.
    func text(_ number: UInt8) -> String? {
        attributes.last { $0.name == [0x55, 0x04, number] && $0.text?.isEmpty == false }?.text
    }

    static let commonName: UInt8 = 3
    /// A human-readable summary: the common name or, if that is missing, the organizational unit or the organization.
    var summary: String? {
        text(DistinguishedName.commonName) ?? text(11) ?? text(10) ?? attributes.last?.text
    }

    /// Encodes a value in DER: the tag, the length in its shortest form, and the contents.
    fileprivate static func wrap(_ tag: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= 0x80 else { return [tag, UInt8(bytes.count)] + bytes }
        var size: [UInt8] = []
        var rest = bytes.count
        while rest > 0 {
            size.insert(UInt8(rest & 0xff), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(size.count)] + size + bytes
    }
}

extension ASN1Node {
    /// The string in a node of any ASN.1 type that names can contain.
    fileprivate var text: String? {
        guard case .primitive(let bytes) = content else { return nil }
        switch identifier {
        case .utf8String: return String(validating: bytes, as: UTF8.self)
        case .printableString, .ia5String:
            return bytes.allSatisfy { $0 < 0x80 } ? String(validating: bytes, as: UTF8.self) : nil
        // Latin-1 in practice.
        case .teletexString: return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        case .bmpString:
            guard bytes.count.isMultiple(of: 2) else { return nil }
            let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2)
                .map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
            return String(validating: units, as: UTF16.self)
        default: return nil
        }
    }

    /// The normalized encoding.
    ///
    /// Printable strings are trimmed, converted to uppercase, and separated into words by single spaces. Other types
    /// are unchanged.
    fileprivate var normalizedText: [UInt8] {
        guard identifier == .printableString, let text else { return Array(encodedBytes) }
        let words = text.split(separator: " ").joined(separator: " ").uppercased()
        return DistinguishedName.wrap(0x13, Array(words.utf8))
    }
}
