// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import WhorlService

/// The result of a command.
struct Answer: Sendable {
    /// The members of `{"result": …}`.
    var result: JSONValue
    /// The lines shown to the user.
    var text: [String]
    /// The exit status: 0, or 1 if the answer itself reports a problem.
    var status = ExitStatus.success
    /// The bytes of the answer, if any.
    ///
    /// They replace the text, and become another member of the result in JSON.
    var product: Product?
}

/// The protection of the state directory.
struct Protection: Sendable {
    /// Whether a real TPM protects it.
    let isHardware: Bool
    let usedSimulatedTPM: Bool

    init(_ facts: MaintenanceFacts) {
        isHardware = facts.isProtectedByHardware
        usedSimulatedTPM = facts.usedSimulatedTPM
    }

    /// The member that reports the use of a simulated TPM.
    var usedTPM: JSONValue? { usedSimulatedTPM ? "simulated" : nil }
}

/// The bytes released by an item; they are never converted to a `String`, because they may be secret.
struct Product: Sendable {
    /// The representation of the bytes in JSON.
    enum Form: Sendable {
        case base64
        /// Unchanged; the bytes must need no escaping in JSON.
        case text
    }

    /// The member's name in JSON.
    let name: String
    let bytes: SecretBox
    var form = Form.base64

    /// Returns the line of a result with this product added as its last member.
    func line(closing line: String) -> SecretBytes {
        let end = "}}"
        // JSONValue writes every result, so the line always ends like this.
        precondition(line.hasSuffix(end), "the line is not a result")
        let head = line.dropLast(end.count) + ",\"\(name)\":\""
        let tail = "\"" + end + "\n"
        let size = max(bytes.bytes.count, SecretBuffer.base64Size(of: bytes.bytes.count))
        var room = SecretBuffer(capacity: head.utf8.count + size + tail.utf8.count)
        room.append(contentsOf: head.utf8)
        switch form {
        case .base64: bytes.bytes.withUnsafeBytes { _ = room.append(base64: $0) }
        case .text: room.append(contentsOf: bytes.bytes)
        }
        room.append(contentsOf: tail.utf8)
        return room.take()
    }
}
