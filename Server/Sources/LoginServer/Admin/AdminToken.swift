// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
internal import LoginAssertion

/// The token for operators' programs: the first line of a file, of which only the digest is stored.
struct AdminToken: Sendable {
    /// The minimum length in characters.
    private static let shortest = 32

    private let digest: Data

    /// Reads the file, with the same checks as for the key file.
    ///
    /// - Throws: ``ServerError`` if it cannot be used.
    init(file path: String) throws(ServerError) {
        guard let bytes = try SecretFile.read(path, atMost: 1_024) else {
            throw ServerError(.options, "operator token file \(path) not found")
        }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        guard line.count >= Self.shortest, line.allSatisfy({ (33...126).contains($0) }) else {
            throw ServerError(
                .options,
                "\(path) must contain a token of at least \(Self.shortest) printable characters",
                hint: "openssl rand -hex 32"
            )
        }
        digest = Data(SHA256.hash(data: line))
    }

    /// Returns whether a text is the token.
    func matches(_ text: String) -> Bool {
        Data(SHA256.hash(data: Data(text.utf8))).isEqualInConstantTime(to: digest)
    }
}
