// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlSupport

/// A unit of the user's service manager.
struct UserUnit {
    /// The unit of the program that answers the keyring's prompts.
    static let keyring = UserUnit(name: "whorl-keyring.service")
    /// The socket of the SSH agent.
    static let sshAgent = UserUnit(name: "whorl-ssh-agent.socket")

    let name: String

    /// Enables and starts the unit, or disables and stops it; returns whether this succeeded.
    func run(_ verb: String) -> Bool { Self.systemctl("--quiet", verb, "--now", name) }

    /// Runs `systemctl --user`, and returns whether it succeeded.
    static func systemctl(_ words: String...) -> Bool {
        let environment = ["XDG_RUNTIME_DIR": UserFolder.path, "PATH": "/usr/bin:/bin"]
        return HelperProgram(at: "/usr/bin/systemctl").succeeds(["--user"] + words, environment)
    }
}

extension HelperProgram {
    /// Runs the program to its end, and returns whether it exited with 0.
    func succeeds(_ words: [String], _ environment: [String: String]) -> Bool {
        guard let process = start(words, environment: environment, passing: []) else { return false }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 { if errno != EINTR { return false } }
        return status == 0
    }
}
