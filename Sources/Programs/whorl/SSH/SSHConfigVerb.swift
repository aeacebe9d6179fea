// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import WhorlService
import WhorlSSH
import WhorlSupport

extension SSHCommand {
    /// The command `whorl ssh config`.
    struct Config: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "config",
            abstract: "Write a .pub file for each key, and print the lines for ~/.ssh/config",
            discussion: """
                The files are in ~/.ssh/whorl. Files of keys that no longer exist are removed. With the printed lines, ssh uses the \
                agent even if SSH_AUTH_SOCK is another one, and offers only these keys. Example:

                  whorl ssh config >> ~/.ssh/config
                """
        )
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let folder = try SSHFolder()
            let keys = try await session.items(.sshKey)
            guard !keys.isEmpty else {
                throw Failure(
                    code: "noSuchItem",
                    message: "There are no SSH keys.",
                    recovery: "Create one: `whorl ssh create laptop`."
                )
            }
            try folder.make()
            var files: [String] = []
            for key in keys {
                let file = folder.file(of: key.id.name)
                try folder.write(try await session.line(of: key.id), to: file)
                files.append(file)
            }
            for old in folder.files where !files.contains(old) && folder.isOwn(old) { unlink(old) }
            return Answer(
                result: ["files": .array(files.map(JSONValue.string))],
                text: ["Host *", "    IdentityAgent /run/user/%i/whorl/ssh-agent.sock"]
                    + files.map { "    IdentityFile \"\(folder.shown($0))\"" } + ["    IdentitiesOnly yes"]
            )
        }
    }

    /// The command `whorl ssh enable`.
    struct Enable: Verb {
        static let asks = Asked.nothing
        static let configuration = CommandConfiguration(
            commandName: "enable",
            abstract: "Start the SSH agent when a program needs it",
            discussion: """
                Programs find the agent through ~/.ssh/config (`whorl ssh config`). With --default, SSH_AUTH_SOCK is set to it from \
                your next login on, and the keys of the previous agent remain available through it.
                """
        )
        @Flag(
            name: .customLong("default"),
            help: "Also make it the agent of all programs, from your next login on"
        )
        var isDefault = false
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            guard UserUnit.sshAgent.run("enable") else { throw Failure.noSSHAgent }
            var text = ["The SSH agent is enabled: \(SSHAgent.socket)"]
            var previous: String?
            if isDefault {
                previous = try DefaultSSHAgent.set()
                text.append("From your next login on, it is the agent of all programs.")
                if let previous { text.append("The keys of \(previous) remain available through it.") }
            }
            return Answer(
                result: [
                    "socket": .string(SSHAgent.socket), "isDefault": .bool(DefaultSSHAgent.isSet),
                    "upstream": previous.map(JSONValue.string),
                ],
                text: text
            )
        }
    }

    /// The command `whorl ssh disable`.
    struct Disable: Verb {
        static let asks = Asked.nothing
        static let configuration = CommandConfiguration(
            commandName: "disable",
            abstract: "Undo 'whorl ssh enable', also with --default; the keys remain"
        )
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            try DefaultSSHAgent.unset()
            guard UserUnit.sshAgent.run("disable") else { throw Failure.noSSHAgent }
            _ = UserUnit.systemctl("--quiet", "stop", "whorl-ssh-agent.service")
            return Answer(
                result: ["isDefault": .bool(false)],
                text: ["The SSH agent is disabled. The keys remain in the TPM."]
            )
        }
    }
}

extension Session {
    /// Returns a key's line, as in a `.pub` file.
    func line(of id: ItemID) async throws -> String {
        let key = try await services.ask(ReadPublicKey(of: id))
        guard let key = SSHPublicKey(p256: key.x963) else {
            throw ServiceError(.itemTampered, id.spoken, cause: "not a point on P-256")
        }
        return key.line(comment: id.name.text)
    }
}

extension Failure {
    fileprivate static let noSSHAgent = Failure(
        code: "noSSHAgent",
        message: "The user's service manager does not start the SSH agent.",
        recovery: "Install the package whorl-ssh, and run this in a login session: `systemctl --user status`."
    )
}

/// The agent of all programs, which SSH_AUTH_SOCK names.
enum DefaultSSHAgent {
    private static let mark =
        "# Written by 'whorl ssh enable --default', and removed by 'whorl ssh disable'.\n"

    private static var configuration: String {
        let home = getenv("HOME").map { String(cString: $0) } ?? ""
        // A relative path is ignored, as the specification of XDG's folders says.
        let folder = getenv("XDG_CONFIG_HOME").map { String(cString: $0) } ?? ""
        return folder.hasPrefix("/") ? folder : "\(home)/.config"
    }

    /// The file from which the user's service manager sets the variable (environment.d(5)).
    private static var variables: String { configuration + "/environment.d/50-whorl-ssh.conf" }
    /// The file that names the previous agent, for the agent's unit.
    private static var unit: String { configuration + "/whorl/ssh-agent.conf" }

    /// Whether the variable is set at the next login.
    static var isSet: Bool { access(variables, F_OK) == 0 }

    /// Sets the variable for the next login, and returns the socket of the previous agent, which remains available.
    static func set() throws(Failure) -> String? {
        var previous = getenv("SSH_AUTH_SOCK").map { String(cString: $0) }
        // It is the agent itself if this is run twice. The previous agent then remains as it was.
        if previous == SSHAgent.socket || previous?.hasPrefix("/") != true { previous = nil }
        if previous?.contains(where: { $0.isNewline || $0 == "\"" || $0 == "\\" }) == true {
            throw .strangeSocket
        }
        for file in [variables, unit] { try checkOwn(file) }
        try write("SSH_AUTH_SOCK=${XDG_RUNTIME_DIR}/whorl/ssh-agent.sock\n", to: variables)
        if let previous {
            try write("WHORL_SSH_UPSTREAM=\"\(previous)\"\n", to: unit)
        }
        return previous
    }

    /// Removes both files, unless they are the user's own.
    static func unset() throws(Failure) {
        for file in [variables, unit] {
            guard let text = Files.text(file) else { continue }
            guard text.hasPrefix(mark) else { throw .foreign(file) }
            unlink(file)
        }
    }

    private static func checkOwn(_ file: String) throws(Failure) {
        // A file that cannot be read is not this program's either.
        if access(file, F_OK) == 0, Files.text(file)?.hasPrefix(mark) != true { throw .foreign(file) }
    }

    private static func write(_ text: String, to file: String) throws(Failure) {
        try checkOwn(file)
        let folder = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? ""
        // A folder that cannot be created makes the file's error.
        for folder in [configuration, folder] { mkdir(folder, 0o700) }
        try OutputFile(path: file, content: "settings of the SSH agent").replace(
            with: Array((mark + text).utf8)
        )
    }
}

extension Failure {
    fileprivate static func foreign(_ file: String) -> Failure {
        Failure(
            code: "notWhorls",
            message: "\(file) was not written by whorl.",
            recovery: "Rename or remove it, and try again."
        )
    }

    fileprivate static let strangeSocket = Failure(
        code: "usage",
        status: .usage,
        message: "SSH_AUTH_SOCK contains characters that cannot be passed on.",
        recovery: "Set it to the socket of your agent, or unset it."
    )
}
