// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlService
import WhorlSupport
import WhorlSystem

/// The options that every command takes.
struct GlobalOptions: ParsableArguments {
    @Option(
        name: .customLong("state-dir"),
        help: ArgumentHelp(
            "Where prints and the log live (WHORL_STATE_DIR); otherwise $XDG_STATE_HOME/whorl, else ~/.local/state/whorl.",
            valueName: "dir"
        ),
        completion: .directory
    )
    var stateDirectory: String?

    @Option(
        help: ArgumentHelp("Whose fingers (WHORL_PROFILE); otherwise the user's name.", valueName: "name")
    )
    var profile: String?

    @Option(
        help: ArgumentHelp(
            "A reader's id from `whorl devices`, or mock:SCRIPT (WHORL_READER); otherwise the only one.",
            valueName: "id"
        )
    )
    var reader: String?

    @Option(
        help: ArgumentHelp(
            "The TPM, such as device:/dev/tpmrm0, or none (WHORL_TCTI).",
            valueName: "conf"
        )
    )
    var tcti: String?

    @Flag(help: "One JSON object on each line of standard output: events, then a result or an error.")
    var json = false

    @Flag(help: "Prints each note, such as one about a simulated TPM, also where a terminal had it today.")
    var verbose = false

    @Option(help: ArgumentHelp("Gives up when no finger comes for so long.", valueName: "seconds"))
    var timeout: Double = 60

    /// The maximum time to wait for one touch: a day.
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

    /// Returns the reason why a name cannot be a profile's; `nil` when it can.
    static func problem(withProfile name: String) -> String? {
        guard !DisplayText.clean(name).allSatisfy(\.isWhitespace) else { return "must not be empty." }
        guard name.count <= 100 else { return "must not be longer than 100 characters." }
        guard DisplayText.clean(name) == name else { return "must not hold control characters." }
        return nil
    }

    /// Returns the failure of a TCTI string that cannot be used; `nil` when it can.
    private static func problem(withTPM text: String?) -> Failure? {
        guard let text, let problem = SystemConfiguration.problem(withTPM: text) else { return nil }
        return .usage(
            "The TPM cannot be “\(DisplayText.clean(text, limit: 60))”: \(problem).",
            hint: "Example: --tcti device:/dev/tpmrm0, or --tcti none for going without."
        )
    }

    /// Returns the configuration that the options and the variables choose together; options win.
    func configuration() throws(Failure) -> SystemConfiguration {
        if let problem = WordsFromOutside.problem(withVariables: variables) { throw problem }
        var configuration = SystemConfiguration()
        if let stateDirectory { configuration.stateDirectory = stateDirectory }
        if let profile { configuration.profile = profile }
        if let reader { configuration.reader = reader }
        if let tcti { configuration.tpm = tcti }
        if let problem = Self.problem(withTPM: configuration.tpm) { throw problem }
        if let profile = configuration.profile, let problem = Self.problem(withProfile: profile) {
            throw .usage("WHORL_PROFILE \(problem)", hint: "Give it another value, or unset it.")
        }
        return configuration
    }

    /// The variables that apply, unless an option takes their place.
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
