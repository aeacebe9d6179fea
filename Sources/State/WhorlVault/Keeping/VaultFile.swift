// SPDX-License-Identifier: Apache-2.0

import Crypto
import FoundationEssentials
import WhorlSecretMemory
import WhorlSecretHash
import WhorlStateStore
import WhorlSupport

/// The format of the vault's small files.
///
/// It consists of a line that identifies the kind, parts preceded by their sizes, an optional secret of 32 bytes, and a
/// checksum to detect damage. The checksum does not prove who wrote the file, but the TPM does.
struct VaultFile: Sendable {
    enum Kind: String {
        case authority = "whorl authority v1\n"
        case stateKey = "whorl state key v1\n"
    }

    /// The maximum size in bytes of a file to read.
    static let largest = 16384

    private static let secretSize = 32
    private static let checksumSize = 32

    /// The parts that are not secret.
    let parts: [[UInt8]]
    /// The secret (32 bytes).
    let secret: SecretBox?

    func encoded(as kind: Kind) -> SecretBytes {
        var head = ByteWriter(kind.rawValue.utf8)
        head.append(UInt8(clamping: parts.count))
        head.append(UInt8(secret == nil ? 0 : 1))
        for part in parts { head.append(sized: part) }
        let body = head.bytes.count + (secret?.bytes.count ?? 0)
        return SecretBytes(count: body + VaultFile.checksumSize) { room in
            room.copyBytes(from: head.bytes)
            secret?.bytes.withUnsafeBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: room[head.bytes.count...]).copyMemory(from: bytes)
            }
            let checksum = SecretHash<SHA256>.hash(UnsafeRawBufferPointer(rebasing: room[..<body]))
            checksum.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: room[body...]).copyMemory(from: $0)
            }
        }
    }
}

extension VaultFile {
    /// Parses the contents of a file, or returns `nil` if they are not a complete file of this kind.
    init?(_ contents: borrowing SecretBytes, as kind: Kind) {
        let decoded = contents.withUnsafeBytes { VaultFile.decode($0, kind) }
        guard let decoded else { return nil }
        self = decoded
    }

    private static func decode(_ bytes: UnsafeRawBufferPointer, _ kind: Kind) -> VaultFile? {
        guard bytes.count > checksumSize else { return nil }
        let body = UnsafeRawBufferPointer(rebasing: bytes.dropLast(checksumSize))
        guard SecretHash<SHA256>.hash(body).elementsEqual(bytes.suffix(checksumSize)) else { return nil }
        let start = kind.rawValue.utf8.count + 2
        guard body.count >= start, body.prefix(start - 2).elementsEqual(kind.rawValue.utf8) else {
            return nil
        }
        guard body[start - 1] <= 1 else { return nil }
        let hasSecret = body[start - 1] == 1
        let open = body[start...].dropLast(hasSecret ? secretSize : 0)
        // Copy only the parts, which are not secret, out of the locked memory.
        var reader = ByteReader(open)
        var parts: [[UInt8]] = []
        for _ in 0..<body[start - 2] {
            guard let part = reader.sized() else { return nil }
            parts.append([UInt8](part))
        }
        guard reader.isAtEnd, body.count >= start + (hasSecret ? secretSize : 0) else { return nil }
        let secret = UnsafeRawBufferPointer(rebasing: body.suffix(secretSize))
        return VaultFile(
            parts: parts,
            secret: hasSecret ? SecretBox(SecretBytes(copying: secret.bytes)) : nil
        )
    }
}
