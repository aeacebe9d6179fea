// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGcr
import WhorlSecretMemory

/// The encryption between this prompter and one prompt of another program, by gcr (`sx-aes-1`).
@MainActor
final class SecretExchange {
    /// The maximum length of the other side's text in bytes; gcr's are about 400.
    static let longest = 4096

    private let exchange = gcr_secret_exchange_new(GCR_SECRET_EXCHANGE_PROTOCOL_1)

    /// Returns this side's public key.
    func begin() -> String? { Self.taken(gcr_secret_exchange_begin(exchange)) }

    /// Reads the other side's public key; `false` if it is not one.
    ///
    /// The text comes from any program. It may also contain an encrypted secret, which no prompter needs; only the key
    /// is passed to gcr.
    func receive(_ text: String) -> Bool {
        guard text.utf8.count <= Self.longest, let key = Self.publicKey(in: text) else { return false }
        return gcr_secret_exchange_receive(exchange, "[\(GCR_SECRET_EXCHANGE_PROTOCOL_1)]\npublic=\(key)\n")
            != 0
    }

    /// Returns the public key in a text, in Base64; `nil` if its form or length cannot be right.
    private static func publicKey(in text: String) -> String? {
        let prefix = "public="
        var lines = text.split(whereSeparator: \.isNewline)
        guard !lines.isEmpty, lines.removeFirst() == "[\(GCR_SECRET_EXCHANGE_PROTOCOL_1)]",
            let line = lines.first(where: { $0.hasPrefix(prefix) })
        else { return nil }
        let key = line.dropFirst(prefix.count)
        // GLib escapes nothing in Base64. 1,536 bits need 256 characters; the bytes of a number may begin with a zero.
        let isBase64 = key.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"),
                UInt8(ascii: "="):
                true
            default: false
            }
        }
        return isBase64 && (200...260).contains(key.utf8.count) ? String(key) : nil
    }

    /// Encrypts a password, or nothing, for the other side, whose public key was received.
    ///
    /// gcr encrypts the bytes in its own locked memory.
    func send(_ password: SecretBox?) -> String? {
        guard let password else { return Self.taken(gcr_secret_exchange_send(exchange, nil, 0)) }
        return password.bytes.withUnsafeBytes { bytes in
            Self.taken(
                gcr_secret_exchange_send(exchange, bytes.bindMemory(to: CChar.self).baseAddress, bytes.count)
            )
        }
    }

    /// Copies and frees a text of gcr, which contains public keys and encrypted bytes.
    private static func taken(_ text: UnsafeMutablePointer<CChar>?) -> String? {
        guard let text else { return nil }
        defer { g_free(text) }
        return String(cString: text)
    }

    isolated deinit { if let exchange { g_object_unref(exchange) } }
}
