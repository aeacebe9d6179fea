// SPDX-License-Identifier: Apache-2.0

/// The secrets attached to a message, which refers to them by index.
///
/// A message coder stores one under ``key``, so that a secret can attach itself and is never part of the message.
public protocol SecretAttachments: AnyObject, Sendable {
    /// Adds a secret, and returns its index.
    func attach(_ secret: SecretBox) throws -> Int

    /// Removes and returns the secret at an index; each can be taken once.
    func secret(at place: Int) throws -> SecretBytes
}

extension SecretAttachments {
    /// The key in a coder's `userInfo`.
    public static var key: CodingUserInfoKey? { .secretAttachments }
}

extension CodingUserInfoKey {
    fileprivate static let secretAttachments = CodingUserInfoKey(rawValue: "io.whorl.secret-attachments")
}

/// A secret in a message, encoded as the index of its attachment.
extension SecretBox: Codable {
    /// Takes the secret at the index in the message.
    ///
    /// - Throws: A `DecodingError` if the message cannot have attachments; the errors of the attachments.
    public convenience init(from decoder: any Decoder) throws {
        let place = try Int(from: decoder)
        guard let attachments = decoder.userInfo.attachments else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "a secret stands in no message")
            )
        }
        self.init(try attachments.secret(at: place))
    }

    /// Attaches the secret, and encodes its index.
    ///
    /// - Throws: An `EncodingError` if the message cannot have attachments; the errors of the attachments.
    public func encode(to encoder: any Encoder) throws {
        guard let attachments = encoder.userInfo.attachments else {
            throw EncodingError.invalidValue(
                "a secret",
                .init(codingPath: encoder.codingPath, debugDescription: "a secret stands in no message")
            )
        }
        try attachments.attach(self).encode(to: encoder)
    }
}

extension [CodingUserInfoKey: Any] {
    fileprivate var attachments: (any SecretAttachments)? {
        CodingUserInfoKey.secretAttachments.flatMap { self[$0] as? any SecretAttachments }
    }
}
