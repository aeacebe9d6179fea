// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
import WhorlService
internal import WhorlSupport

/// The form in which a record is stored in its row.
extension KeychainRecord {
    private static let form: StaticString = "whorl keychain item v1"

    /// The unique encoding of the record, in which the attributes are sorted by name.
    var encoded: Data {
        var bytes = ByteWriter(KeychainRecord.form)
        bytes.append(sized: itemClass.rawValue)
        bytes.append(sized: accessGroup)
        bytes.append(sized: accessible)
        bytes.append(flags)
        bytes.append(UInt8(isSynchronizable ? 1 : 0))
        bytes.append(UInt8(hasValue ? 1 : 0))
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
            bytes.append(sized: name)
            bytes.append(sized: value.encoded)
        }
        return Data(bytes.bytes)
    }

    /// Decodes a record, or returns `nil` for bytes that ``encoded`` does not produce.
    init?(encoded: Data) {
        self.init(own: encoded)
        guard self.encoded == encoded else { return nil }
    }

    /// Decodes bytes from ``encoded`` that were verified with an authentication code.
    ///
    /// It does not check again that the encoding is unique.
    init?(own encoded: Data) {
        let record = encoded.withUnsafeBytes { bytes in
            var bytes = ByteReader(bytes)
            return KeychainRecord(&bytes)
        }
        guard let record else { return nil }
        self = record
    }

    private init?(_ bytes: inout ByteReader<UnsafeRawBufferPointer>) {
        guard let start = bytes.take(KeychainRecord.form.utf8CodeUnitCount),
            KeychainRecord.form.isEqual(to: start),
            let itemClass = bytes.text().flatMap(KeychainClass.init(rawValue:)),
            let accessGroup = bytes.text(), let accessible = bytes.text(),
            let flags = bytes.number(UInt64.self), let synchronizable = bytes.number(UInt8.self),
            synchronizable <= 1, let value = bytes.number(UInt8.self), value <= 1
        else { return nil }
        var attributes: [String: AttributeValue] = [:]
        attributes.reserveCapacity(6)
        while !bytes.isAtEnd {
            guard let name = bytes.text(), let value = bytes.sized().flatMap(AttributeValue.init(encoded:))
            else { return nil }
            attributes[name] = value
        }
        self.init(
            itemClass,
            accessGroup: accessGroup,
            accessible: accessible,
            flags: flags,
            isSynchronizable: synchronizable == 1,
            hasValue: value == 1,
            attributes: attributes
        )
    }

    /// The record after converting all attributes that the class stores as data to data.
    ///
    /// Rows may store these attributes as text.
    var normalized: KeychainRecord {
        guard !itemClass.ofBytes.isEmpty else { return self }
        var normalized = self
        for name in itemClass.ofBytes {
            guard case .text(let text)? = attributes[name] else { continue }
            normalized.attributes[name] = .data(Data(text.utf8))
        }
        return normalized
    }

    /// Returns the encoding of the profile, the class, the access group and the identifying attributes.
    ///
    /// The encoding must be different for each item.
    func identity(of profile: String) -> Data {
        var bytes = ByteWriter("whorl keychain name v1")
        bytes.append(sized: profile)
        bytes.append(sized: itemClass.rawValue)
        bytes.append(sized: accessGroup)
        bytes.append(UInt8(isSynchronizable ? 1 : 0))
        for name in itemClass.identifying {
            // A missing attribute is the same as an empty one, as on Apple's systems.
            let value = attributes[name].flatMap { $0.isDefault ? nil : $0 }
            bytes.append(sized: value?.encoded ?? Data())
        }
        return Data(bytes.bytes)
    }

    /// Returns whether the item has the given attributes.
    func matches(_ wanted: [String: AttributeValue]) -> Bool {
        wanted.allSatisfy { name, value in
            guard let own = attributes[name] else { return value.isDefault }
            return own == value || own.isDefault && value.isDefault
        }
    }
}

extension KeychainClass {
    /// The attributes that are stored as bytes even if they are given as text.
    var ofBytes: [String] {
        switch self {
        case .key: ["klbl", "atag"]
        case .genericPassword, .internetPassword, .certificate: []
        }
    }
}

extension StaticString {
    /// Returns whether the string in UTF-8 is equal to these bytes.
    fileprivate func isEqual(to bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        var isEqual = false
        withUTF8Buffer { isEqual = bytes.elementsEqual($0) }
        return isEqual
    }
}
