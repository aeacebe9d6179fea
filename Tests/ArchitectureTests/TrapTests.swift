// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What ends the process on purpose, each with the reason why no client and no file reaches it.
///
/// A new one fails this test: first look for an error or a result in its place, then add it here with its reason.
struct TrapTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")

    /// The words that end a process, or may.
    private static let traps: [(name: String, pattern: String)] = [
        ("precondition", #"\bprecondition\("#), ("preconditionFailure", #"\bpreconditionFailure\("#),
        ("fatalError", #"\bfatalError\("#), ("assertionFailure", #"\bassertionFailure\("#),
        ("try!", #"\btry!"#), ("as!", #"\bas!"#), ("unowned", #"\bunowned\b"#),
        ("uniqueKeysWithValues", "uniqueKeysWithValues"),
        // A value that is unwrapped by force: a name or a bracket, and the mark behind it.
        ("!", #"[\w\)\]]!(?![=\w])"#),
    ]

    /// The traps that remain, by file, with their number and the reason.
    private static let known: [String: (count: Int, why: String)] = [
        "AuthenticationContext/LAError.swift": (
            3, "the bridge of NSError, which only the same program's errors cross"
        ),
        "GLibRuntime/Bridge.swift": (
            2, "GLib's own promise: a callback has its data, and memory is there or GLib ends the program"
        ),
        "GLibRuntime/ContextWatch.swift": (
            2, "when the program starts, before any client; glibc has ppoll(2)"
        ),
        "GLibRuntime/GLibExecutor.swift": (
            2, "isolation that the compiler has checked; GLib allocates or ends the program"
        ),
        "GLibRuntime/WorkerThread.swift": (
            1, "a semaphore of this function, signalled after the answer is stored"
        ),
        "KeychainServices/ProtectedValues.swift": (1, "a class that no archive names"),
        "LibfprintReader/LibfprintReader+DirectScans.swift": (1, "GLib allocates or ends the program"),
        "LocalAuthentication/LARight.swift": (1, "a table of constants, which its test reads as a whole"),
        "LocalAuthenticationTesting/TestDevice.swift": (1, "a made-up machine for the tests of apps"),
        "RelyingParty/ClientAddress.swift": (1, "16 bytes that the line before has counted"),
        "SecretMemory/SecretBuffer.swift": (
            1, "a size that a constant of ours gives, or the larger of it and 1"
        ),
        "SecretMemory/SecretBytes.swift": (1, "a count of bytes that exist, or that `fstat` has bounded"),
        "SecretMemory/SecretPages.swift": (
            2, "without memory or random numbers nothing may go on; shares keep each user far from that"
        ),
        "WhorlEnrollment/ScanLimits.swift": (
            1, "a task of this function, which stores its end before it returns"
        ),
        "WhorlIPC/Descriptor.swift": (1, "a number that the kernel has just given"),
        "WhorlSupport/OwnThread.swift": (
            1, "GLib's and the signals' thread, when the program starts; others wait for a thread"
        ),
        "WhorlTPM/CMemory.swift": (2, "sizes of C structures, and a body that has run"),
        "WhorlTPM/TPMCommands+Create.swift": (1, "a property that the initializer has set"),
        "WhorlTPM/TPMDevice.swift": (
            2, "setenv(3) when the program starts; isolation that the compiler has checked"
        ),
        "WhorlVault/Vault+Items.swift": (
            2, "the kind of an item, which the service compares with the call's before"
        ),
        "whorl/Answer.swift": (1, "a line that the function itself has encoded"),
        "whorl/Simulate.swift": (1, "a picture whose size the reader of pictures has checked"),
    ]

    @Test func `no trap is in the sources but those with a reason`() throws {
        var found: [String: [String]] = [:]
        for file in try Self.files() {
            let parts = file.pathComponents.dropFirst(Self.sources.pathComponents.count)
            guard let target = parts.dropFirst().first, let name = parts.last else { continue }
            let traps = try Self.traps(in: String(contentsOf: file, encoding: .utf8))
            if !traps.isEmpty { found["\(target)/\(name)", default: []] += traps }
        }
        for (file, traps) in found {
            #expect(traps.count == Self.known[file]?.count ?? 0, "\(file): \(traps)")
        }
        #expect(
            Set(Self.known.keys).subtracting(found.keys).isEmpty,
            "they have gone: take them off the list"
        )
    }

    @Test(arguments: [
        "let a = b!", "c(d!)", "x[0]!.y", "try! f()", "a as! B", "unowned let x: Y", "fatalError()",
        "Dictionary(uniqueKeysWithValues: pairs)",
    ])
    func `a trap is found in a line`(line: String) throws { #expect(try Self.traps(in: line).count == 1) }

    @Test(arguments: [
        "if !x { }", "a != b", "// as! in a comment", #"say("Stop!")"#, "/// precondition(x)", "x ? !y : z",
    ])
    func `what is none is not taken for one`(line: String) throws {
        #expect(try Self.traps(in: line).isEmpty)
    }

    private static func traps(in text: String) throws -> [String] {
        try text.split(separator: "\n").flatMap { line -> [String] in
            // Texts and comments are left out; a text's interpolations hold none.
            let code = line.replacing(/"(?:\\.|[^"\\])*"/, with: "\"\"")
                .replacing(/\/\/.*$/, with: "")
            // What has a row of its own is not unwrapped by force, and neither are the types of Apple's functions.
            let rest = code.replacing("try!", with: "try").replacing("as!", with: "as")
                .replacing(/(: |-> )[A-Z]\w+!/, with: "")
            return try traps.flatMap { trap in
                try (trap.name == "!" ? rest : code).matches(of: Regex<Substring>(trap.pattern)).map { _ in
                    trap.name
                }
            }
        }
    }

    private static func files() throws -> [URL] {
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        return (files?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }
    }
}
