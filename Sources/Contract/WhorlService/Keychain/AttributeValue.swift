// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import WhorlSupport

/// The value of a keychain item's attribute.
///
/// Two values are equal if their bytes are equal. Texts that differ only in Unicode normalization are different.
public enum AttributeValue: Sendable, Hashable {
    /// A text.
    case text(String)
    /// A sequence of bytes.
    case data(Data)
    /// A number, or a Boolean as 0 or 1.
    case number(Int64)
    /// A time, in seconds since 1970-01-01 UTC.
    case date(Double)

    /// The encoding for storage, comparison and indexing: a byte for the kind, then the value.
    package var encoded: Data {
        switch self {
        case .text(let text): return Data([1] + text.utf8)
        case .data(let data): return Data([2]) + data
        case .number(let number): return numbered(3, UInt64(bitPattern: number))
        case .date(let seconds): return numbered(4, seconds.bitPattern)
        }
    }

    /// Returns the ``encoded`` form of a text with the given bytes.
    package static func encodedText(_ bytes: Data) -> Data { Data([1]) + bytes }

    /// The size of the value in bytes, without the byte for the kind.
    package var size: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .data(let data): data.count
        case .number, .date: 8
        }
    }

    /// Decodes a value; returns `nil` if the bytes are not the output of ``encoded``.
    package init?(encoded: Slice<UnsafeRawBufferPointer>) {
        var bytes = ByteReader(encoded)
        guard let kind = bytes.number(UInt8.self) else { return nil }
        let rest = bytes.rest
        switch kind {
        case 1:
            guard let text = String(utf8: rest) else { return nil }
            self = .text(text)
        case 2: self = .data(Data(rest))
        case 3:
            guard let number = bytes.number(UInt64.self), bytes.isAtEnd else { return nil }
            self = .number(Int64(bitPattern: number))
        case 4:
            guard let bits = bytes.number(UInt64.self), bytes.isAtEnd else { return nil }
            self = .date(Double(bitPattern: bits))
        default: return nil
        }
    }

    /// Whether the value is empty or 0, and therefore equivalent to a missing attribute.
    package var isDefault: Bool {
        switch self {
        case .text(let text): text.isEmpty
        case .data(let data): data.isEmpty
        case .number(let number): number == 0
        case .date: false
        }
    }

    /// Returns whether both values have the same bytes.
    public static func == (first: AttributeValue, second: AttributeValue) -> Bool {
        switch (first, second) {
        case (.text(let first), .text(let second)): first.utf8.elementsEqual(second.utf8)
        case (.data(let first), .data(let second)): first == second
        case (.number(let first), .number(let second)): first == second
        case (.date(let first), .date(let second)): first.bitPattern == second.bitPattern
        case (.text, _), (.data, _), (.number, _), (.date, _): false
        }
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(encoded) }

    private func numbered(_ kind: UInt8, _ bits: UInt64) -> Data {
        var bytes = ByteWriter(CollectionOfOne(kind))
        bytes.append(bits)
        return Data(bytes.bytes)
    }
}

/// The encoding for messages between processes: ``encoded``, which preserves every bit of a text and of a date.
extension AttributeValue: Codable {
    /// Decodes a value.
    ///
    /// - Throws: An error if the bytes are not the output of ``encoded``.
    public init(from decoder: any Decoder) throws {
        let bytes = try decoder.singleValueContainer().decode(Data.self)
        guard let value = bytes.withUnsafeBytes({ AttributeValue(encoded: $0[...]) }) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "not an attribute value"
                )
            )
        }
        self = value
    }

    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(encoded)
    }
}
