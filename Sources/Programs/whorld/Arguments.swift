// SPDX-License-Identifier: Apache-2.0

import WhorlCallers
import WhorlSupport
import WhorlSystem

/// The program's arguments.
///
/// `whorl`'s parser is not used for them: it has a size of half a megabyte and would slow down the start of each
/// private child.
struct Arguments: Sendable {
    /// The descriptor of the open socket over which only one user is served.
    var privateDescriptor: Int32?
    var stateRoot = "/var/lib/whorl"
    var configurationFile = ServiceConfiguration.path
    var checksConfiguration = false
    /// The number of seconds without a client after which the service exits; `nil` leaves this to the configuration.
    var idleSeconds: Int?
    var tpm: String?
    /// Whether the program that started this one has more privileges than its caller.
    var isElevated = false
    var stateDirectory: String?
    var profile: String?
    var reader: String?
    var allowsVirtualReaders = false
    /// The built-in readers that the firmware does not report as such.
    var builtInReaders: [String] = []
    /// The text to print instead of serving clients.
    var text: String?

    /// The reason why the arguments are invalid.
    struct Fault: Error, Equatable, CustomStringConvertible {
        let description: String
    }

    /// Parses the program's arguments, as `--name value` or `--name=value`.
    ///
    /// - Parameter arguments: The arguments, without the program's own name.
    /// - Throws: A fault that describes the first invalid argument.
    init(_ arguments: [String]) throws(Fault) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let option = Self.options.first(where: { "--\($0.name)" == parts[0] }) else {
                throw Fault(description: "Unknown argument: \(DisplayText.clean(argument, limit: 80))")
            }
            let given = parts.count == 2 ? String(parts[1]) : nil
            guard option.value != nil else {
                guard given == nil else {
                    throw Fault(description: "--\(option.name) does not accept a value.")
                }
                _ = option.take(&self, "")
                continue
            }
            guard let value = given ?? rest.popFirst(), option.take(&self, value) else {
                throw Fault(description: "Missing or invalid value: \(option.usage)")
            }
        }
    }

    /// The settings of the program that started this private child; they override environment variables.
    var engine: SystemConfiguration {
        var configuration = SystemConfiguration()
        if let stateDirectory { configuration.stateDirectory = stateDirectory }
        if let profile { configuration.profile = profile }
        if let reader { configuration.reader = reader }
        if let tpm { configuration.tpm = tpm }
        if isElevated {
            configuration.allowsTestReaders = false
            configuration.allowsSimulatedTPM = false
        }
        return configuration
    }
}

extension Arguments {
    /// One option, used to parse the arguments and to print the help.
    private struct Option: Sendable {
        let name: String
        /// The name of the option's value in the help; `nil` for an option without a value.
        let value: String?
        let help: String
        /// Applies a value, and returns whether it is valid for this option.
        let take: @Sendable (inout Arguments, String) -> Bool

        /// Creates an option with a value.
        init(
            _ name: String,
            _ value: String,
            _ help: String,
            take: @escaping @Sendable (inout Arguments, String) -> Bool
        ) {
            (self.name, self.value, self.help, self.take) = (name, value, help, take)
        }

        /// Creates an option without a value.
        init(_ name: String, _ help: String, set: @escaping @Sendable (inout Arguments) -> Void) {
            (self.name, value, self.help) = (name, nil, help)
            take = { arguments, _ in
                set(&arguments)
                return true
            }
        }

        var usage: String { "--\(name)" + (value.map { " <\($0)>" } ?? "") }
    }

    private static let options = [
        Option("private", "descriptor", "Serve this user only, over an open socket.") {
            $0.privateDescriptor = number($1)
            return $0.privateDescriptor != nil
        },
        Option("state-root", "dir", "Directory with a folder for each user's data.") {
            $0.stateRoot = $1
            return true
        },
        Option("config", "file", "Configuration file; if it is missing, the defaults are used.") {
            $0.configurationFile = $1
            return true
        },
        Option("check-config", "Check this file, print the errors, and exit.") {
            $0.checksConfiguration = true
        },
        Option(
            "idle",
            "seconds",
            "Exit after this many seconds without a client; 0 for never (default: from the file)."
        ) {
            $0.idleSeconds = number($1)
            return $0.idleSeconds != nil
        },
        Option("tcti", "conf", "The TPM, such as device:/dev/tpmrm0, or none.") {
            $0.tpm = $1
            return true
        },
        Option("elevated", "With --private: accept no mock reader and no simulated TPM.") {
            $0.isElevated = true
        },
        Option("state-dir", "dir", "With --private: state directory.") {
            $0.stateDirectory = $1
            return true
        },
        Option("profile", "name", "With --private: user profile.") {
            $0.profile = $1
            return true
        },
        Option("reader", "id", "With --private: the reader, or mock:SCRIPT.") {
            $0.reader = $1
            return true
        },
        Option("allow-virtual-readers", "Use libfprint's virtual readers; for tests of an installation.") {
            $0.allowsVirtualReaders = true
        },
        Option(
            "built-in-reader",
            "id",
            "A reader under the lid that the firmware does not report; may be repeated."
        ) {
            $0.builtInReaders.append($1)
            return true
        },
        Option("version", "Print the version.") { $0.text = WhorlVersion.text },
        Option("help", "Print this help.") { $0.text = help },
    ]

    /// Returns a nonnegative number; `nil` if the text is not one.
    private static func number<Number: FixedWidthInteger>(_ text: String) -> Number? {
        Number(text).flatMap { $0 >= 0 ? $0 : nil }
    }

    private static var help: String {
        let width = (options.map(\.usage.count).max() ?? 0) + 2
        let lines = options.map { option in
            "  " + option.usage + String(repeating: " ", count: width - option.usage.count) + option.help
        }
        return """
            The fingerprint service. It stores fingers, secrets and keys, and lets other programs use them after a touch.

            systemd starts it when a program connects to /run/whorl/io.whorl; it exits when it is idle. If it is not
            installed, whorl starts it as a child with --private. See whorld(8).

            usage: whorld [option…]

            """ + lines.joined(separator: "\n")
    }
}
