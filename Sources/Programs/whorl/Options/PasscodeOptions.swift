// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SecretMemory
import TerminalPrompt

/// Where the passcode comes from: the terminal, or a descriptor that is open.
struct PasscodeOption: ParsableArguments {
    @Option(
        name: .customLong("passcode-fd"),
        help: ArgumentHelp(
            "Takes the passcode from a line of this open file instead of the terminal.",
            valueName: "n"
        )
    )
    var descriptor: Int32?

    func validate() throws {
        if let descriptor, descriptor < 0 { throw ValidationError("--passcode-fd must be 0 or more.") }
    }

    /// The passcode that is set.
    func read(_ question: String = "Passcode") async throws(Failure) -> SecretBox {
        try await line(descriptor) { reader throws(PasscodeReadingError) in try await reader.read(question) }
    }

    /// A passcode to be set, asked for twice on the terminal.
    func readNew() async throws(Failure) -> SecretBox {
        try await line(descriptor) { reader throws(PasscodeReadingError) in try await reader.readNew() }
    }

    /// The passcode where it comes from a descriptor; `nil` where the prompt asks for it.
    func preset() async throws(Failure) -> SecretBox? {
        descriptor == nil ? nil : try await read()
    }
}

/// Where a program's own password comes from.
struct ApplicationPasswordOption: ParsableArguments {
    @Option(
        name: .customLong("application-password-fd"),
        help: ArgumentHelp(
            "Takes the item's own password from a line of this open file instead of the terminal.",
            valueName: "n"
        )
    )
    var descriptor: Int32?

    func validate() throws {
        if let descriptor, descriptor < 0 {
            throw ValidationError("--application-password-fd must be 0 or more.")
        }
    }

    /// The password of an item that is there.
    func read() async throws(Failure) -> SecretBox {
        try await line(descriptor) { reader throws(PasscodeReadingError) in
            try await reader.read("Application password")
        }
    }

    /// The password of an item that is made.
    func readNew() async throws(Failure) -> SecretBox {
        try await line(descriptor) { reader throws(PasscodeReadingError) in
            try await reader.readNew("New application password")
        }
    }
}

/// Where the user's password at the server comes from.
struct PasswordOption: ParsableArguments {
    @Option(
        name: .customLong("password-fd"),
        help: ArgumentHelp(
            "Takes the password at the server from a line of this open file instead of the terminal.",
            valueName: "n"
        )
    )
    var descriptor: Int32?

    func validate() throws {
        if let descriptor, descriptor < 0 { throw ValidationError("--password-fd must be 0 or more.") }
    }

    func read(_ question: String = "Password") async throws(Failure) -> SecretBox {
        try await line(descriptor) { reader throws(PasscodeReadingError) in try await reader.read(question) }
    }
}

/// A line of a descriptor, or what a person types.
private func line(
    _ descriptor: Int32?,
    _ ask: @escaping (PasscodeReader) async throws(PasscodeReadingError) -> SecretBox
) async throws(Failure) -> SecretBox {
    try await failing { () async throws(PasscodeReadingError) in
        if let descriptor { return try await PasscodeReader.read(from: descriptor) }
        return try await ask(PasscodeReader())
    }
}
