// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import SoftwareMachine
import SoftwareTPM
import Testing
import Whorl
import WhorlContext
import WhorlService
import WhorlSystem

/// Accepts a touch, and shows nothing.
private struct Watcher: PromptPresenter {
    var isInteractive: Bool { get async { true } }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        for await _ in entry.updates {}
        return nil
    }
}

@Suite("The module Whorl, with a TPM", .timeLimit(.minutes(5)))
struct MachineTests {
    /// Runs a program on a machine with a simulated TPM and a reader that matches.
    private func run(reader: String = "mock:then=match", _ body: () async throws -> Void) async throws {
        let tpm = try SoftwareTPM()
        let root = InProcessRoot(on: tpm, reader: reader)
        try await root.enroll(.rightIndex)
        let parts = ContextParts(of: root.services, presenter: Watcher())
        try await ContextParts.$ofTask.withValue(parts, operation: body)
        await root.services.close()
    }

    @Test func `a key signs a message after a touch, and its public half verifies it`() async throws {
        try await run {
            let key = try await Keys.create("signer", access: .biometryAny)
            let message = Data("release 0.1.0".utf8)
            let signature = try await Keys.key("signer").sign(message, reason: "sign the release")
            let point = try await key.publicKey.x963
            let publicKey = try P256.Signing.PublicKey(x963Representation: point)
            let parsed = try P256.Signing.ECDSASignature(derRepresentation: signature.der)
            #expect(publicKey.isValidSignature(parsed, for: message))
            #expect(try await Keys.list().map(\.id.name.text) == ["signer"])
            try await Keys.delete("signer")
            await #expect { try await key.sign(message, reason: "again") } throws: {
                ($0 as? ServiceError)?.code == .noSuchItem
            }
        }
    }

    @Test func `a secret in the TPM comes back as it was`() async throws {
        try await run {
            let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
            try await Secrets.add("blob", Secret(bytes), access: .biometryAny)
            let secret = try await Secrets.get("blob", reason: "read it")
            #expect(secret.withUnsafeBytes { Array($0) } == bytes)
            await #expect { try await Secrets.get("other", reason: "read it") } throws: {
                ($0 as? ServiceError)?.code == .noSuchItem
            }
            await #expect { try await Secrets.add("a/b", Secret(bytes)) } throws: {
                ($0 as? ServiceError)?.code == .nameRefused
            }
        }
    }

    @Test func `a finger is enrolled at a reader, with its stages`() async throws {
        try await run(reader: "mock:stages=3,match,touch left-thumb*9") {
            var steps: [Enrollment.Step] = []
            for try await step in Fingers.enroll(.leftThumb) { steps.append(step) }
            #expect(steps.filter { $0.event == .accepted }.map(\.completed) == [1, 2, 3])
            #expect(steps.contains { $0.event == .confirm })
            #expect(steps.last?.event == .stored && steps.last?.total == 3)
            #expect(try await Fingers.list().count == 2)
        }
    }

    @Test func `an enrollment that is left early stores nothing`() async throws {
        try await run(reader: "mock:stages=3,then=wait,match,touch left-thumb*2") {
            for try await step in Fingers.enroll(.leftThumb) where step.event == .accepted { break }
            #expect(try await Fingers.list().map(\.finger) == [.rightIndex])
        }
    }
}
