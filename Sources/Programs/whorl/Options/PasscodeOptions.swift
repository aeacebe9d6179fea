// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlSecretMemory
import WhorlTerminalPrompt

/// The source of the passcode: the terminal or an open file descriptor.
struct PasscodeOption: ParsableArguments {
    @Option(
        name: .customLong("passcode-fd"),
        help: ArgumentHelp(
            "Read the passcode from this file descriptor, one line, instead of the terminal",
            valueName: "n"
        )
    )
    var descriptor: Int32?

    func validate() throws {
        if let descriptor, descriptor < 0 { throw ValidationError("--passcode-fd must not be negative.") }
    }

    /// Reads the current passcode.
    func read(_ question: String = "Passcode") async throws -> SecretBox {
        try await line(descriptor) { try await $0.read(question) }
    }

    /// Reads a new passcode, prompting for it twice on the terminal.
    func readNew() async throws -> SecretBox {
        try await line(descriptor) { try await $0.readNew() }
    }

    /// Returns the passcode if it comes from a descriptor; `nil` if the user enters it in the prompt.
    func preset() async throws -> SecretBox? {
        descriptor == nil ? nil : try await read()
    }
}

/// The source of an application password.
struct ApplicationPasswordOption: ParsableArguments {
    @Option(
        name: .customLong("application-password-fd"),
        help: ArgumentHelp(
            "Read the application password from this file descriptor, one line, instead of the terminal",
            valueName: "n"
        )
    )
    var descriptor: Int32?

    func validate() throws {
        if let descriptor, descriptor < 0 {
            throw ValidationError("--application-password-fd must not be negative.")
        }
    }

    /// Reads the password of an existing item.
    func read() async throws -> SecretBox {
        try await line(descriptor) { try await $0.read("Application password") }
    }

    /// Reads the password of a new item.
    func readNew() async throws -> SecretBox {
        try await line(descriptor) { try await $0.readNew("New application password") }
    }
}

/// The source of the user's password for the server.
struct PasswordOption: ParsableArguments {
    @Option(
        name: .customLong("password-fd"),
        help: ArgumentHelp(
            "Read the server password from this file descriptor, one line, instead of the terminal",
            valueName: "n"
        )
    )
    var descriptor: Int32?

    func validate() throws {
        if let descriptor, descriptor < 0 { throw ValidationError("--password-fd must not be negative.") }
    }

    func read(_ question: String = "Password") async throws -> SecretBox {
        try await line(descriptor) { try await $0.read(question) }
    }
}

/// Reads a line from a descriptor, or prompts for it on the terminal.
private func line(
    _ descriptor: Int32?,
    _ ask: (PasscodeReader) async throws -> SecretBox
) async throws -> SecretBox {
    if let descriptor { return try await PasscodeReader.read(from: descriptor) }
    return try await ask(PasscodeReader())
}
