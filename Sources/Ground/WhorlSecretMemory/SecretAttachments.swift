// SPDX-License-Identifier: Apache-2.0

/// The secrets attached to a message, which refers to them by index.
///
/// A message coder stores an instance under ``key``, so that secrets are attached to the message and never part of it.
public protocol SecretAttachments: AnyObject, Sendable {
    /// Adds a secret, and returns its index.
    func attach(_ secret: SecretBox) throws -> Int

    /// Removes and returns the secret at an index; each secret can be taken only once.
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
    /// Decodes an index and takes the attached secret at that index.
    ///
    /// - Throws: A `DecodingError` if the message cannot have attachments; the errors of the attachments.
    public convenience init(from decoder: any Decoder) throws {
        let place = try Int(from: decoder)
        guard let attachments = decoder.userInfo.attachments else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "this message cannot contain secrets")
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
                .init(codingPath: encoder.codingPath, debugDescription: "this message cannot contain secrets")
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
