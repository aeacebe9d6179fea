// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoftwareTPM
import WhorlStateStore
import WhorlTPM
import Testing

@testable import WhorlVault

/// Somebody with tpm2-tools, the run of the chip and a copy of the state directory, but without the authority's file.
struct Attacker {
    let tpm: SoftwareTPM
    let root: String

    init(_ tpm: SoftwareTPM, root: StorageRoot) {
        self.tpm = tpm
        self.root = "0x" + String(root.handle, radix: 16)
    }

    /// Runs a tool; whatever it leaves in the chip's slots is flushed.
    @discardableResult
    func run(_ arguments: String...) throws -> ToolResult { try run(arguments) }

    @discardableResult
    func run(_ arguments: [String]) throws -> ToolResult {
        let result = try runAll(arguments)
        _ = try tpm.tool("flushcontext", "-t")
        return result
    }

    private func runAll(_ arguments: [String]) throws -> ToolResult {
        // The tool's interface is variadic.
        let command = arguments.map { "'" + $0 + "'" }.joined(separator: " ")
        return try tpm.run("env", "TPM2TOOLS_TCTI=\(tpm.address)", "sh", "-c", "tpm2 \(command)")
    }

    /// Loads an object's blobs into the context `name`.
    func load(_ object: TPMObject, as name: String) throws -> ToolResult {
        try tpm.write(object.publicBlob, to: "\(name).pub")
        try tpm.write(object.privateBlob, to: "\(name).priv")
        return try run("load", "-C", root, "-u", "\(name).pub", "-r", "\(name).priv", "-c", "\(name).ctx")
    }

    /// Begins a session; `isTrial` computes a policy only.
    func session(_ name: String, isTrial: Bool = false) throws {
        let kind = isTrial ? [] : ["--policy-session"]
        let result = try runAll(["startauthsession", "-S", name] + kind)
        #expect(result.status == 0, "\(result.errors)")
    }

    func flush(_ session: String) throws { _ = try tpm.tool("flushcontext", session) }
}

extension SoftwareTPM {
    /// The state of a chip as `tpm2_getcap properties-variable` shows it.
    func property(_ name: String) throws -> String? {
        try tool("getcap", "properties-variable").output.split(separator: "\n")
            .first { $0.contains(name + ":") }
            .map { $0.split(separator: ":")[1].trimmingCharacters(in: .whitespaces) }
    }
}
