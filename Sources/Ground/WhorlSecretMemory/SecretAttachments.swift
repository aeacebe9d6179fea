// SPDX-License-Identifier: Apache-2.0

/// The secrets beside a message, which the message names by their places.
///
/// A coder of messages has one under ``key``: so a secret attaches itself, and never stands in the message.
public protocol SecretAttachments: AnyObject, Sendable {
    /// Adds a secret, and returns its place.
    func attach(_ secret: SecretBox) throws -> Int

    /// Takes the secret at a place; each can be taken once.
    func secret(at place: Int) throws -> SecretBytes
}

extension SecretAttachments {
    /// The key in a coder's `userInfo`.
    public static var key: CodingUserInfoKey? { .secretAttachments }
}

extension CodingUserInfoKey {
    fileprivate static let secretAttachments = CodingUserInfoKey(rawValue: "io.whorl.secret-attachments")
}

/// A secret in a message: the place of its bytes beside the message.
extension SecretBox: Codable {
    /// Reads the secret at the place that the message names.
    ///
    /// - Throws: a `DecodingError` where nothing lies beside the message; what the attachments throw.
    public convenience init(from decoder: any Decoder) throws {
        let place = try Int(from: decoder)
        guard let attachments = decoder.userInfo.attachments else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "a secret stands in no message")
            )
        }
        self.init(try attachments.secret(at: place))
    }

    /// Attaches the secret, and writes its place.
    ///
    /// - Throws: an `EncodingError` where nothing can lie beside the message; what the attachments throw.
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
