// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlRemote
import WhorlService
import WhorlSupport

/// The options that every command accepts.
struct GlobalOptions: ParsableArguments {
    @Option(
        name: .customLong("state-dir"),
        help: ArgumentHelp(
            "State directory (WHORL_STATE_DIR; default: ~/.local/state/whorl, or in $XDG_STATE_HOME)",
            valueName: "dir"
        ),
        completion: .directory
    )
    var stateDirectory: String?

    @Option(
        help: ArgumentHelp("User profile (WHORL_PROFILE; default: your user name)", valueName: "name")
    )
    var profile: String?

    @Option(
        help: ArgumentHelp(
            "Reader ID from 'whorl devices', or mock:SCRIPT (WHORL_READER; default: the only reader)",
            valueName: "id"
        )
    )
    var reader: String?

    @Option(
        help: ArgumentHelp(
            "TPM to use, such as device:/dev/tpmrm0, or none (WHORL_TCTI)",
            valueName: "conf"
        )
    )
    var tcti: String?

    @Flag(help: "Print JSON lines: events, then one result or error")
    var json = false

    @Flag(help: "Repeat notes that are normally shown once a day")
    var verbose = false

    @Option(help: ArgumentHelp("Seconds to wait for a touch", valueName: "seconds"))
    var timeout: Double = 60

    /// The maximum time to wait for one touch: one day.
    private static let longestTimeout = 86_400.0

    func validate() throws {
        guard timeout.isFinite, timeout > 0, timeout <= Self.longestTimeout else {
            throw ValidationError("--timeout must be more than 0 and at most 86400 seconds.")
        }
        guard stateDirectory?.isEmpty != true else { throw ValidationError("--state-dir must not be empty.") }
        guard reader?.isEmpty != true else { throw ValidationError("--reader must not be empty.") }
        if let profile, let problem = Self.problem(withProfile: profile) {
            throw ValidationError("--profile \(problem)")
        }
    }

    /// Returns why a name cannot be used as a profile name; `nil` if it can.
    static func problem(withProfile name: String) -> String? {
        guard !DisplayText.clean(name).allSatisfy(\.isWhitespace) else { return "must not be empty." }
        guard name.count <= 100 else { return "must not be longer than 100 characters." }
        guard DisplayText.clean(name) == name else { return "must not contain control characters." }
        return nil
    }

    /// Returns the failure for an unusable TCTI string; `nil` if it is usable.
    private static func problem(withTPM text: String?) -> Failure? {
        guard let text, let problem = TCTIString.fault(in: text) else { return nil }
        return .usage(
            "Invalid TPM “\(DisplayText.clean(text, limit: 60))”: \(problem).",
            hint: "Use --tcti device:/dev/tpmrm0, for example, or --tcti none to run without a TPM."
        )
    }

    /// Returns the settings from options and environment variables; options take precedence.
    func choices() throws(Failure) -> ServiceChoices {
        if let problem = ProcessInput.problem(withVariables: variables) { throw problem }
        var choices = ServiceChoices()
        if let stateDirectory { choices.stateDirectory = stateDirectory }
        if let profile { choices.profile = profile }
        if let reader { choices.reader = reader }
        if let tcti { choices.tpm = tcti }
        if let problem = Self.problem(withTPM: choices.tpm) { throw problem }
        if let profile = choices.profile, let problem = Self.problem(withProfile: profile) {
            throw .usage("WHORL_PROFILE \(problem)", hint: "Change its value, or unset it.")
        }
        return choices
    }

    /// The environment variables that apply unless an option overrides them.
    private var variables: [String] {
        let choices = [
            ("WHORL_PROFILE", profile), ("WHORL_READER", reader), ("WHORL_TCTI", tcti),
            ("WHORL_STATE_DIR", stateDirectory), ("XDG_STATE_HOME", stateDirectory), ("HOME", stateDirectory),
        ]
        return choices.compactMap { name, option in option == nil ? name : nil }
    }

    /// The time to wait for each touch.
    var patience: Duration { .milliseconds(Int64((timeout * 1000).rounded(.up))) }
}
