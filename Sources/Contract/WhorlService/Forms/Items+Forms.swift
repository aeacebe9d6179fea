// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// The form of an access control between processes: its text.
extension AccessControl: Codable {
    /// Reads the text; one that makes no sense throws `DecodingError.dataCorrupted`.
    public init(from decoder: any Decoder) throws {
        self = try decoder.reading { text throws(ServiceError) in try AccessControl(text) }
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

/// The form of a name between processes: its text.
extension ItemName: Codable {
    /// Reads the text; one that is no name throws `DecodingError.dataCorrupted`.
    public init(from decoder: any Decoder) throws {
        self = try decoder.reading { text throws(ServiceError) in try ItemName(text) }
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

/// The form of a public key between processes: its uncompressed point.
extension SigningKeyPublic: Codable {
    /// Reads the point; bytes that are no point of P-256 throw `DecodingError.dataCorrupted`.
    public init(from decoder: any Decoder) throws {
        self = try decoder.reading(SigningKeyPublic.init(x963:), else: "no point")
    }

    /// Writes the point.
    public func encode(to encoder: any Encoder) throws { try x963.encode(to: encoder) }
}

/// The form of a signature between processes: r and s.
extension Signature: Codable {
    /// Reads r and s; other bytes throw `DecodingError.dataCorrupted`.
    public init(from decoder: any Decoder) throws {
        self = try decoder.reading(Signature.init(raw:), else: "no signature")
    }

    /// Writes r and s.
    public func encode(to encoder: any Encoder) throws { try raw.encode(to: encoder) }
}

extension Decoder {
    /// Reads a text, and makes a value of it.
    fileprivate func reading<Value>(_ make: (String) throws(ServiceError) -> Value) throws -> Value {
        do {
            return try make(String(from: self))
        } catch let error as ServiceError {
            throw DecodingError.dataCorrupted(
                .init(codingPath: codingPath, debugDescription: error.message, underlyingError: error)
            )
        }
    }

    /// Reads bytes, and makes a value of them; `refusal` is the error of bytes that give none.
    fileprivate func reading<Value>(_ make: (Data) -> Value?, else refusal: String) throws -> Value {
        guard let value = make(try Data(from: self)) else {
            throw DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: refusal))
        }
        return value
    }
}
