// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// The encoding of an access control for messages between processes: its text.
extension AccessControl: Codable {
    /// Decodes the text form; throws `DecodingError.dataCorrupted` if it is not a valid access control.
    public init(from decoder: any Decoder) throws {
        self = try decoder.reading { text throws(ServiceError) in try AccessControl(text) }
    }

    /// Encodes the text form.
    public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

/// The encoding of a name for messages between processes: its text.
extension ItemName: Codable {
    /// Decodes the text form; throws `DecodingError.dataCorrupted` if it is not a valid name.
    public init(from decoder: any Decoder) throws {
        self = try decoder.reading { text throws(ServiceError) in try ItemName(text) }
    }

    /// Encodes the text form.
    public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

/// The encoding of a public key for messages between processes: its uncompressed point.
extension SigningKeyPublic: Codable {
    /// Decodes the point; throws `DecodingError.dataCorrupted` if it is not on P-256.
    public init(from decoder: any Decoder) throws {
        self = try decoder.reading(SigningKeyPublic.init(x963:), else: "not a point on P-256")
    }

    /// Encodes the point.
    public func encode(to encoder: any Encoder) throws { try x963.encode(to: encoder) }
}

/// The encoding of a signature for messages between processes: r followed by s.
extension Signature: Codable {
    /// Decodes r followed by s; throws `DecodingError.dataCorrupted` for any other bytes.
    public init(from decoder: any Decoder) throws {
        self = try decoder.reading(Signature.init(raw:), else: "not a signature")
    }

    /// Encodes r followed by s.
    public func encode(to encoder: any Encoder) throws { try raw.encode(to: encoder) }
}

extension Decoder {
    /// Decodes a string and creates a value from it.
    fileprivate func reading<Value>(_ make: (String) throws(ServiceError) -> Value) throws -> Value {
        do {
            return try make(String(from: self))
        } catch let error as ServiceError {
            throw DecodingError.dataCorrupted(
                .init(codingPath: codingPath, debugDescription: error.message, underlyingError: error)
            )
        }
    }

    /// Decodes bytes and creates a value from them; `refusal` describes the error if that fails.
    fileprivate func reading<Value>(_ make: (Data) -> Value?, else refusal: String) throws -> Value {
        guard let value = make(try Data(from: self)) else {
            throw DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: refusal))
        }
        return value
    }
}
