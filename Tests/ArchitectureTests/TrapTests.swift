// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What ends the process on purpose, each with the reason why no client and no file reaches it.
///
/// A new one fails this test: first look for an error or a result in its place, then add it here with its reason.
struct TrapTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    /// The folders of sources; in the first one the targets lie in their floors.
    private static let folders = [
        "Sources", "PAM/Sources", "Library/Sources", "SSH/Sources", "Desktop/Sources", "Server/Sources",
    ]

    /// The words that end a process, or may.
    private static let traps: [(name: String, pattern: String)] = [
        ("precondition", #"\bprecondition\("#), ("preconditionFailure", #"\bpreconditionFailure\("#),
        ("dispatchPrecondition", #"\bdispatchPrecondition\("#), ("fatalError", #"\bfatalError\("#),
        ("assertionFailure", #"\bassertionFailure\("#), ("assert", #"\bassert\("#), ("abort", #"\babort\("#),
        ("try!", #"\btry!"#), ("as!", #"\bas!"#), ("unowned", #"\bunowned\b"#),
        ("uniqueKeysWithValues", "uniqueKeysWithValues"), ("unsafelyUnwrapped", "unsafelyUnwrapped"),
        ("uncheckedBounds", "uncheckedBounds"),
        // A number of another form that need not fit: a fraction, a time, a number of the database.
        (
            "Int",
            #"\b(?:U?Int(?:8|16|32|64)?|CInt)\((?!clamping|exactly|truncating).*(?:\.rounded|timeInterval|db\.value)"#
        ),
        // A variable that is unwrapped by force wherever it is used.
        ("implicit", #"\b(?:var|let) \w+: [A-Z][\w.<>\[\]]*!"#),
        // A value that is unwrapped by force: a name or a bracket, and the mark behind it.
        ("!", #"[\w\)\]\}"?>]!(?![=\w])"#),
    ]

    /// What a line with a trap has at least one of.
    ///
    /// Other lines are not compared with the patterns, which takes long.
    private static let hints = [
        "!", "recondition", "fatalError", "assert", "abort", "unowned", "uniqueKeysWithValues",
        "unsafelyUnwrapped", "uncheckedBounds", ".rounded", "timeInterval", "db.value",
    ]

    /// The traps that remain, by file, with their number and the reason.
    private static let known: [String: (count: Int, why: String)] = [
        "WhorlLogin/LoginCall.swift": (1, "the present time"),
        "WhorlStateStore/StoredRow.swift": (1, "the present time"),
        "KeychainServices/CFBoolean.swift": (2, "constants with the types of Apple's, which have values"),
        "KeychainServices/CoreFoundation.swift": (
            4, "constants with the types of Apple's; the one that is nil is taken as nil"
        ),
        "LoginServer/AccountsCommand.swift": (1, "the present time"),
        "LoginServer/FileOwner.swift": (1, "root's rights, when the server starts"),
        "LoginServer/InitCommand.swift": (1, "the present time"),
        "LoginServer/KeysCommand.swift": (1, "the present time"),
        "LoginServer/LoginService.swift": (2, "the present time"),
        "LoginServer/OperatorLog.swift": (1, "the present time"),
        "LoginServer/TokenKeySet.swift": (1, "a key of the server's own"),
        "LoginServer/TokenKeyStore.swift": (1, "a nonce whose size is a constant"),
        "RelyingParty/RelyingParty.swift": (1, "the present time"),
        "RelyingPartyPostgreSQL/PostgreSQLConnection.swift": (1, "a time limit of this process"),
        "RelyingPartyPostgreSQL/PostgreSQLPool.swift": (1, "a time limit of this process"),
        "SyntheticFingers/FingerMaster.swift": (1, "heights between -1 and 1"),
        "SyntheticFingers/FingerPress.swift": (2, "a gray that is bounded there, and places in a picture"),
        "SyntheticFingers/OrientationField.swift": (1, "an angle of less than a turn"),
        "SyntheticFingers/SyntheticFinger.swift": (1, "a picture that the function has drawn"),
        "WhorlEngine/AttemptLedger.swift": (1, "finite and bounded there"),
        "WhorlSupport/OffPoolTimer.swift": (1, "bounded there"),
        "whorl/Devices.swift": (1, "a time that this process has measured"),
        "whorl/GlobalOptions.swift": (1, "the option's parser has bounded it"),
        "WhorlContext/LAError.swift": (
            3, "the bridge of NSError, which only the same program's errors cross"
        ),
        "WhorlGLib/Bridge.swift": (
            2, "GLib's own promise: a callback has its data, and memory is there or GLib ends the program"
        ),
        "WhorlGLib/ContextWatch.swift": (
            2, "when the program starts, before any client; glibc has ppoll(2)"
        ),
        "WhorlGLib/GLibExecutor.swift": (
            2, "isolation that the compiler has checked; GLib allocates or ends the program"
        ),
        "WhorlSupport/WorkerThread.swift": (
            1, "a semaphore of this function, signalled after the answer is stored"
        ),
        "KeychainServices/ProtectedValues.swift": (1, "a class that no archive names"),
        "LocalAuthentication/LARight.swift": (1, "a table of constants, which its test reads as a whole"),
        "LocalAuthenticationTesting/TestDevice.swift": (1, "a made-up machine for the tests of apps"),
        "RelyingParty/ClientAddress.swift": (1, "16 bytes that the line before has counted"),
        "WhorlSecretMemory/SecretBuffer.swift": (
            1, "a size that a constant of ours gives, or the larger of it and 1"
        ),
        "WhorlSecretMemory/SecretBytes.swift": (
            1, "a count of bytes that exist, or that `fstat` has bounded"
        ),
        "WhorlSecretMemory/SecretPages.swift": (
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
    ]

    @Test func `no trap is in the sources but those with a reason`() throws {
        var found: [String: [String]] = [:]
        for folder in Self.folders {
            let sources = Self.root.appending(path: folder)
            for file in Self.files(in: sources) {
                let parts = file.pathComponents.dropFirst(sources.pathComponents.count)
                guard let target = (folder == "Sources" ? parts.dropFirst() : parts).first,
                    let name = parts.last
                else { continue }
                let traps = try Self.traps(in: String(contentsOf: file, encoding: .utf8))
                if !traps.isEmpty { found["\(target)/\(name)", default: []] += traps }
            }
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
        "Dictionary(uniqueKeysWithValues: pairs)", "a.unsafelyUnwrapped", "{ b }()!", "f { $0 }!", "\"x\"!",
        "x as? Y!", "Int(seconds.rounded())", "UInt32(db.value(sql: text) ?? 0)", "var reader: Reader!",
        "Int64(date.timeIntervalSince1970)", "dispatchPrecondition(condition: x)", "assert(x > 0)", "abort()",
    ])
    func `a trap is found in a line`(line: String) throws { #expect(try Self.traps(in: line).count == 1) }

    @Test(arguments: [
        "if !x { }", "a != b", "// as! in a comment", #"say("Stop!")"#, "/// precondition(x)", "x ? !y : z",
        "_ bytes: UnsafePointer<UInt8>!,", "f() -> UnsafePointer<CChar>! {", "Int(clamping: x.rounded())",
    ])
    func `what is none is not taken for one`(line: String) throws {
        #expect(try Self.traps(in: line).isEmpty)
    }

    private static func traps(in text: String) throws -> [String] {
        let lines = text.split(separator: "\n").filter { line in hints.contains { line.contains($0) } }
        if lines.isEmpty { return [] }
        let patterns = try traps.map { (name: $0.name, regex: try Regex<Substring>($0.pattern)) }
        return lines.flatMap { line -> [String] in
            // Texts and comments are left out; a text's interpolations hold none.
            let code = line.replacing(/"(?:\\.|[^"\\])*"/, with: "\"\"")
                .replacing(/\/\/.*$/, with: "")
            // What has a row of its own is not unwrapped by force, and neither are the types of Apple's functions.
            let rest = code.replacing("try!", with: "try").replacing("as!", with: "as")
                .replacing(/(: |-> )[A-Z]\w+(<[\w<>?]*>)?!/, with: "")
            return patterns.flatMap { trap in
                (trap.name == "!" ? rest : code).matches(of: trap.regex).map { _ in trap.name }
            }
        }
    }

    private static func files(in folder: URL) -> [URL] {
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return (files?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }
    }
}
