// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import WhorlSystem

/// What stands behind the state directory.
struct Protection: Sendable {
    /// Whether a real chip keeps it.
    let isHardware: Bool
    let usedSimulatedTPM: Bool

    init(_ services: SystemServices) {
        isHardware = services.isProtectedByHardware
        usedSimulatedTPM = services.usedSimulatedTPM
    }

    /// The member that names a TPM which is none.
    var usedTPM: JSONValue? { usedSimulatedTPM ? "simulated" : nil }
}

/// What an item gave: bytes that never become text in Swift's memory, since they may be a secret.
struct Product: Sendable {
    /// How the bytes stand in JSON.
    enum Form: Sendable {
        case base64
        /// As they are: characters that JSON does not escape.
        case text
    }

    /// The member's name in JSON.
    let name: String
    let bytes: SecretBox
    var form = Form.base64

    /// The line of a result with this as its last member.
    func line(closing line: String) -> SecretBytes {
        let end = "}}"
        precondition(line.hasSuffix(end), "the line is no result")
        let head = Array((line.dropLast(end.count) + ",\"\(name)\":\"").utf8)
        let tail = Array(("\"" + end + "\n").utf8)
        let size =
            switch form {
            case .base64: (bytes.bytes.count + 2) / 3 * 4
            case .text: bytes.bytes.count
            }
        return SecretBytes(count: head.count + size + tail.count) { room in
            room.copyBytes(from: head)
            put(into: UnsafeMutableRawBufferPointer(rebasing: room[head.count..<head.count + size]))
            UnsafeMutableRawBufferPointer(rebasing: room[(head.count + size)...]).copyBytes(from: tail)
        }
    }

    private func put(into room: UnsafeMutableRawBufferPointer) {
        switch form {
        case .base64: encode(into: room)
        case .text: bytes.bytes.withUnsafeBytes { room.copyMemory(from: $0) }
        }
    }

    /// Base64 with padding (RFC 4648, section 4).
    private func encode(into room: UnsafeMutableRawBufferPointer) {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        bytes.bytes.withUnsafeBytes { source in
            for group in 0..<room.count / 4 {
                let start = group * 3
                let count = min(3, source.count - start)
                var bits = 0
                for offset in 0..<3 { bits = bits << 8 | (offset < count ? Int(source[start + offset]) : 0) }
                for place in 0..<4 {
                    let digit = alphabet[bits >> (18 - 6 * place) & 63]
                    room[group * 4 + place] = place <= count ? digit : UInt8(ascii: "=")
                }
            }
        }
    }
}
