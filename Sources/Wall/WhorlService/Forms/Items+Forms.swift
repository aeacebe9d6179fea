// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The form of an access control between processes: its text.
extension AccessControl: Codable {
    /// Reads the text; one that makes no sense throws `DecodingError.dataCorrupted`.
    public init(from decoder: any Decoder) throws {
        self = try decoder.reading { text throws(VaultError) in try AccessControl(text) }
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

/// The form of a name between processes: its text.
extension ItemName: Codable {
    /// Reads the text; one that is no name throws `DecodingError.dataCorrupted`.
    public init(from decoder: any Decoder) throws {
        self = try decoder.reading { text throws(VaultError) in try ItemName(text) }
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

/// The form of a public key between processes: its uncompressed point.
extension SigningKeyPublic: Codable {
    /// Reads the point; bytes that are no point of P-256 throw `DecodingError.dataCorrupted`.
    public init(from decoder: any Decoder) throws {
        guard let key = SigningKeyPublic(x963: try Data(from: decoder)) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "no point")
            )
        }
        self = key
    }

    /// Writes the point.
    public func encode(to encoder: any Encoder) throws { try x963.encode(to: encoder) }
}

/// The form of a signature between processes: r and s.
extension Signature: Codable {
    /// Reads r and s; other bytes throw `DecodingError.dataCorrupted`.
    public init(from decoder: any Decoder) throws {
        guard let signature = Signature(raw: try Data(from: decoder)) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "no signature")
            )
        }
        self = signature
    }

    /// Writes r and s.
    public func encode(to encoder: any Encoder) throws { try raw.encode(to: encoder) }
}

extension Decoder {
    /// Reads a text, and makes a value of it.
    fileprivate func reading<Value>(_ make: (String) throws(VaultError) -> Value) throws -> Value {
        do {
            return try make(String(from: self))
        } catch let error as VaultError {
            throw DecodingError.dataCorrupted(
                .init(codingPath: codingPath, debugDescription: error.message, underlyingError: error)
            )
        }
    }
}
