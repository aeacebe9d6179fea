// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSecretMemory
import SoftwareTPM
import WhorlTPM
import WhorlService

/// A program that does on its own TPM what Whorl does after a match, with an item of the same policy.
///
/// It reads what it needs from the file `plan`, answers each line on stdin with one use, and tells how many nanoseconds it took.
final class Counterpart {
    private let tpm: SoftwareTPM
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var pending: [UInt8] = []

    init(_ program: String, _ product: Product, _ access: String, forTools: Bool) async throws {
        tpm = try SoftwareTPM()
        let plan = try await Plan(product, access, on: tpm)
        if forTools { try plan.makePersistent(on: tpm) }
        try tpm.write(Array(plan.text.utf8), to: "plan")
        process.executableURL = URL(filePath: program)
        process.currentDirectoryURL = tpm.directory
        var environment = ProcessInfo.processInfo.environment
        environment["TPM2TOOLS_TCTI"] = tpm.address
        process.environment = environment
        process.arguments = [tpm.address]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// One use; nanoseconds.
    func use() throws -> Int {
        input.fileHandleForWriting.write(Data("use\n".utf8))
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                defer { pending.removeSubrange(...end) }
                guard let time = Int(String(decoding: pending[..<end], as: UTF8.self)) else { break }
                return time
            }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { break }
            pending += data
        }
        throw Failure(text: "\(process.executableURL?.lastPathComponent ?? "") ended")
    }

    func stop() {
        input.fileHandleForWriting.closeFile()
        process.waitUntilExit()
    }
}

/// An item of a policy, and what meets it.
private struct Plan {
    private let root: StorageRoot
    private let authority: TPMObject
    private let auth: [UInt8]
    private let item: TPMObject
    private let counter: NVCounter
    private let value: UInt64
    private let branches: [PolicyDigest]
    private let product: Product

    /// Persistent handles for tpm2-tools, which then have nothing to load.
    private static let (authorityHandle, itemHandle) = ("0x81010010", "0x81010011")

    init(_ product: Product, _ access: String, on tpm: SoftwareTPM) async throws {
        self.product = product
        let device = TPMDevice(try TPMAddress(tpm.address))
        let auth = (0..<32).map { _ in UInt8.random(in: 1...255) }
        self.auth = auth
        let made = try await device.perform { tpm throws(TPMError) in
            let root = try tpm.findOrMakeStorageRoot()
            let value = SecretBox(SecretBytes(copying: auth.span.bytes))
            let authority = try tpm.createAuthority(under: root, auth: value, dictionaryAttack: false)
            let passcode = try tpm.createAuthority(under: root, auth: value, dictionaryAttack: true)
            var credentials = Credentials()
            credentials.add(authority, auth: value)
            let known = TPMPolicy.secret(of: authority.name)
            let counter = try tpm.defineCounter(writePolicy: known, under: root, credentials: credentials)
            let count = try tpm.read(counter)
            // As `ItemPolicy` has them.
            let finger = TPMPolicy.all([known, .counter(counter, equals: count)])
            let choice = access.hasSuffix("-or-passcode") ? [finger, .secret(of: passcode.name)] : []
            let policy = choice.isEmpty ? finger : .any(choice)
            let item =
                switch product {
                case .signature: try tpm.create(.signingKey, under: root, policy: policy.digest)
                case .secret: try tpm.create(.sealed(value), under: root, policy: policy.digest)
                }
            return (root, authority, counter, count, choice.map(\.digest), item)
        }
        (root, authority, counter, value, branches, item) = made
        await device.close()
    }

    /// Lines of a word and its value; what is not needed is not there.
    var text: String {
        var lines = [
            "product \(product.rawValue)", "root 0x" + String(root.handle, radix: 16),
            "auth \(hexadecimal(auth))",
            "authority_public \(hexadecimal(authority.publicBlob))",
            "authority_private \(hexadecimal(authority.privateBlob))",
            "item_public \(hexadecimal(item.publicBlob))", "item_private \(hexadecimal(item.privateBlob))",
            "counter 0x" + String(counter.index, radix: 16), "value \(value)",
            "authority_handle \(Self.authorityHandle)", "item_handle \(Self.itemHandle)",
        ]
        for (number, branch) in branches.enumerated() { lines.append("branch\(number) \(branch)") }
        return lines.map { $0 + "\n" }.joined()
    }

    func makePersistent(on tpm: SoftwareTPM) throws {
        try tpm.write(withUnsafeBytes(of: value.bigEndian) { Array($0) }, to: "value")
        try tpm.write(Array(repeating: 7, count: 32), to: "digest")
        for (number, branch) in branches.enumerated() { try tpm.write(branch.bytes, to: "branch\(number)") }
        for (object, handle) in [(authority, Self.authorityHandle), (item, Self.itemHandle)] {
            try tpm.write(object.publicBlob, to: "public")
            try tpm.write(object.privateBlob, to: "private")
            let parent = "0x" + String(root.handle, radix: 16)
            for arguments in [
                ["load", "-C", parent, "-u", "public", "-r", "private", "-c", "context"],
                ["evictcontrol", "-C", "o", "-c", "context", handle], ["flushcontext", "-t"],
            ] {
                let done = try tpm.tool(arguments: arguments)
                guard done.status == 0 else { throw Failure(text: "tpm2 \(arguments): \(done.errors)") }
            }
        }
    }
}

private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
