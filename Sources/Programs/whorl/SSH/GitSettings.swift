// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlService
import WhorlSupport

/// The settings with which git signs, of one repository or of all of the user's.
struct GitSettings {
    /// The change of a setting; `nil` means that it is not set.
    struct Change {
        let name: String
        let old: String?
        let new: String?
    }

    /// The settings that a setup may change.
    private static let names = [
        "gpg.format", "user.signingkey", "gpg.ssh.program", "commit.gpgsign", "tag.gpgsign",
        "gpg.ssh.allowedSignersFile",
    ]

    private let scope: String

    init(isGlobal: Bool) throws(Failure) {
        scope = isGlobal ? "--global" : "--local"
        guard access("/usr/bin/git", X_OK) == 0 else {
            throw Failure(code: "noGit", message: "git is not installed.", recovery: "Install git.")
        }
        guard isGlobal || run(["rev-parse", "--git-dir"]).status == 0 else {
            throw .usage(
                "This directory is not in a git repository.",
                hint: "Change to one, or add --global."
            )
        }
    }

    /// Returns the changes for signing with a key, and the files to write before them, by path.
    ///
    /// git calls ssh-keygen, which only uses the agent that SSH_AUTH_SOCK names. The program that is set here in its place
    /// calls it with the socket of the TPM's agent.
    func changes(_ key: ItemID, _ session: Session) async throws -> (
        changes: [Change], files: [String: String]
    ) {
        guard let program = HelperProgram(named: "whorl-ssh-keygen") else {
            throw Failure(
                code: "noSSHAgent",
                message: "The SSH agent is not installed.",
                recovery: "Install the package whorl-ssh."
            )
        }
        let folder = try SSHFolder()
        let file = folder.file(of: key.name)
        let line = try await session.line(of: key)
        var files = [file: line]
        var wanted = [
            "gpg.format": "ssh", "user.signingkey": file, "gpg.ssh.program": program.path,
            "commit.gpgsign": "true",
            "tag.gpgsign": "true",
        ]
        // Without it, git cannot verify the signatures that it makes.
        if value("gpg.ssh.allowedSignersFile", in: nil) == nil, let mail = value("user.email", in: nil),
            Self.isPlain(mail)
        {
            let signers = folder.path + "/allowed_signers"
            let own = "\(mail) \(line)"
            // A file that cannot be read, or not to its end, is not replaced.
            guard access(signers, F_OK) != 0 || Files.text(signers).map({ $0.utf8.count < 1 << 20 }) == true
            else {
                throw Failure(
                    code: "unwritable",
                    message: "\(signers) cannot be read.",
                    recovery: "Rename or remove it, and try again."
                )
            }
            let others = (Files.text(signers) ?? "").split(separator: "\n").map(String.init)
            if !others.contains(own) { files[signers] = (others + [own]).joined(separator: "\n") }
            wanted["gpg.ssh.allowedSignersFile"] = signers
        }
        let changes = Self.names.compactMap { name -> Change? in
            guard let new = wanted[name] else { return nil }
            let old = value(name, in: scope)
            return old == new ? nil : Change(name: name, old: old, new: new)
        }
        return (changes, files)
    }

    /// Returns whether an address is one word without patterns, options or quotes (ssh-keygen(1), ALLOWED SIGNERS).
    private static func isPlain(_ mail: String) -> Bool {
        !mail.isEmpty
            && mail.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
                default: ".@+_-".utf8.contains(byte)
                }
            }
    }

    /// The changes that restore what a setup has replaced.
    var undoing: [Change] {
        Self.names.compactMap { name in
            guard let before = value(Self.memory(of: name), in: scope) else { return nil }
            let new = before.hasPrefix("=") ? String(before.dropFirst()) : nil
            return Change(name: name, old: value(name, in: scope), new: new)
        }
    }

    /// Makes a change.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - remembers: Whether the old value is stored for ``undoing``, unless an earlier one is; otherwise, it is forgotten.
    /// - Throws: `gitFailed` if git refuses the change.
    func apply(_ change: Change, remembers: Bool) throws(Failure) {
        let memory = Self.memory(of: change.name)
        if !remembers {
            try set(memory, nil)
        } else if value(memory, in: scope) == nil {
            try set(memory, change.old.map { "=" + $0 } ?? "-")
        }
        try set(change.name, change.new)
    }

    /// The name of the setting that stores the earlier value of another one.
    private static func memory(of name: String) -> String {
        "whorl.before-" + String(name.map { $0 == "." ? "-" : $0 })
    }

    private func value(_ name: String, in scope: String?) -> String? {
        let (status, output) = run(["config"] + (scope.map { [$0] } ?? []) + ["--get", name])
        guard status == 0 else { return nil }
        return String(output.prefix { $0 != "\n" })
    }

    private func set(_ name: String, _ value: String?) throws(Failure) {
        let words = value.map { [name, $0] } ?? ["--unset-all", name]
        let status = run(["config", scope] + words).status
        // 5: there was nothing to remove.
        guard status == 0 || value == nil && status == 5 else {
            throw Failure(
                code: "gitFailed",
                message: "git did not change \(name).",
                recovery: "Try `git config \(scope) \(words.joined(separator: " "))`."
            )
        }
    }

    /// Runs git, and returns its exit status and its output of at most 64 KiB.
    private func run(_ words: [String]) -> (status: Int32, output: String) {
        guard let ends = PipeEnds() else { return (-1, "") }
        let process = HelperProgram(at: "/usr/bin/git").start(words, passing: [.init(ends.writeEnd, as: 1)])
        close(ends.writeEnd)
        defer { close(ends.readEnd) }
        guard let process else { return (-1, "") }
        var output: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 4096)
        while output.count < 1 << 16 {
            let count = read(ends.readEnd, &room, room.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            output += room.prefix(count)
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 { if errno != EINTR { return (-1, "") } }
        // WEXITSTATUS, which is a macro; a signal counts as a failure.
        return (status & 0x7f == 0 ? status >> 8 & 0xff : -1, String(decoding: output, as: UTF8.self))
    }
}
