// SPDX-License-Identifier: Apache-2.0

import Crypto
import WhorlFingerprint
import FoundationEssentials
import WhorlSecretMemory
import WhorlSecretHash
import WhorlStateStore
import WhorlSupport

/// Encrypts templates for the database with AES-256-GCM and binds them to their print.
///
/// A ciphertext that was moved to another row, profile, finger or reader cannot be decrypted. It is also bound to the
/// digest of the template as it was enrolled, so that an improved template still belongs to the enrollment that the
/// manifest's MAC covers.
///
/// Decrypted bytes are wiped here, except for the returned ``Template``, which wipes itself.
struct TemplateCipher: Sendable {
    let keys: StateKeys
    private var cipher: SaltedCipher { SaltedCipher(keys, .templates) }

    func seal(_ template: Template, for row: PrintRow) throws -> Data {
        var plain = Data(template.bytes)
        defer { TemplateCipher.wipe(&plain) }
        return try seal(plain, context(row, "template"))
    }

    /// Returns the template, or `nil` if the row or its ciphertext was modified after sealing.
    func open(_ row: PrintRow) -> Template? {
        guard var plain = open(row.sealed, context(row, "template")) else { return nil }
        defer { TemplateCipher.wipe(&plain) }
        return Template(bytes: Array(plain))
    }

    /// Returns whether the row's template can be decrypted.
    ///
    /// The decrypted template is wiped.
    func opens(_ row: PrintRow) -> Bool {
        guard var plain = open(row.sealed, context(row, "template")) else { return false }
        TemplateCipher.wipe(&plain)
        return true
    }

    func seal(_ intent: Intent, for row: PrintRow) throws -> Data {
        try seal(intent.encoded, context(row, "intent"))
    }

    /// Returns the intent, or `nil` if it cannot be read.
    func openIntent(_ row: PrintRow) -> Intent? {
        open(row.sealed, context(row, "intent")).flatMap(Intent.init(encoded:))
    }

    static func digest(of template: Template) -> Data {
        template.bytes.withUnsafeBytes { Data(SecretHash<SHA256>.hash($0)) }
    }

    /// The name of the format, which is at the start of every ciphertext.
    private static let header = Data("WHC1".utf8)

    private func seal(_ plain: Data, _ context: Data) throws -> Data {
        TemplateCipher.header + (try cipher.seal(plain, authenticating: context))
    }

    private func open(_ sealed: Data?, _ context: Data) -> Data? {
        guard let sealed, sealed.starts(with: TemplateCipher.header) else { return nil }
        return cipher.open(sealed.dropFirst(TemplateCipher.header.count), authenticating: context)
    }

    /// Wipes decrypted bytes.
    ///
    /// The caller must have the only reference to them, so that they are not copied before they are wiped.
    private static func wipe(_ plain: inout Data) {
        plain.withUnsafeMutableBytes { $0.wipe() }
    }

    /// Returns the data that a ciphertext is bound to.
    func context(_ row: PrintRow, _ purpose: String) -> Data {
        var bytes = ByteWriter(Data("whorl \(purpose) v1".utf8))
        bytes.append(raw: row.id.bytes)
        bytes.append(sized: row.profile)
        bytes.append(row.finger.number)
        bytes.append(sized: row.reader.rawValue)
        bytes.append(sized: row.templateDigest)
        return Data(bytes.bytes)
    }
}

/// The prints that an enrollment may have left in a reader that stores prints.
enum Intent: Sendable, Hashable {
    /// Any print except the given ones, which the reader had stored before. This is `nil` if the reader cannot list its
    /// prints.
    case besides([Template]?)
    /// Exactly the given print, which the reader did not delete.
    case exactly(Template)

    var encoded: Data {
        var bytes = ByteWriter()
        switch self {
        case .besides(nil): bytes.append(UInt8(0))
        case .besides(let kept?):
            bytes.append(UInt8(1))
            for template in kept { bytes.append(sized: template.bytes) }
        case .exactly(let template):
            bytes.append(UInt8(2))
            bytes.append(sized: template.bytes)
        }
        return Data(bytes.bytes)
    }

    init?(encoded: Data) {
        var bytes = ByteReader(encoded)
        switch bytes.number(UInt8.self) {
        case 0: self = .besides(nil)
        case 1:
            var kept: [Template] = []
            while !bytes.isAtEnd {
                guard let template = bytes.sized() else { return nil }
                kept.append(Template(bytes: Array(template)))
            }
            self = .besides(kept)
        case 2:
            guard let template = bytes.sized() else { return nil }
            self = .exactly(Template(bytes: Array(template)))
        default: return nil
        }
        guard bytes.isAtEnd else { return nil }
    }
}
