// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import SoftwareTPM
import WhorlTPM

extension Bench {
    /// Has tpm2-tools load an object.
    func load(_ object: TPMObject, as context: String) throws -> ToolResult {
        try chip.write(object.publicBlob, to: "public")
        try chip.write(object.privateBlob, to: "private")
        let handle = "0x" + String(root.handle, radix: 16)
        let result = try chip.tool("load", "-C", handle, "-u", "public", "-r", "private", "-c", context)
        try chip.flushObjects()
        return result
    }

    /// The digest that tpm2-tools come to with these policy commands, each of which writes it to the file `digest`.
    func toolDigest(_ steps: [[String]]) throws -> PolicyDigest {
        try chip.tool("startauthsession", "-S", "s.ctx")
        for step in steps {
            let result = try chip.tool(arguments: step)
            guard result.status == 0 else { throw ToolFailure(step: step, words: result.errors) }
            try chip.flushObjects()
        }
        try chip.tool("flushcontext", "s.ctx")
        return PolicyDigest(bytes: try chip.read("digest"))
    }

    /// A counter that the authority increments.
    func counter() async throws -> NVCounter {
        let (root, policy, credentials) = (root, policy, credentials)
        return try await device.perform { tpm throws(TPMError) in
            try tpm.defineCounter(writePolicy: policy, under: root, credentials: credentials)
        }
    }
}

extension SoftwareTPM {
    /// Without a resource manager tpm2-tools leave what they have loaded.
    func flushObjects() throws { try tool("flushcontext", "-t") }
}

struct ToolFailure: Error {
    let step: [String]
    let words: String
}

extension SecretBox {
    var hex: String { hexadecimal(bytes.copy) }
}

/// Two digits for each byte.
func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}
