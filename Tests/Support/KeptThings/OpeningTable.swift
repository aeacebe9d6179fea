// SPDX-License-Identifier: Apache-2.0

/// What a person shows to open an item.
package enum Showing: String, CaseIterable, Codable, Sendable {
    /// A finger, and no passcode.
    case finger = "F"
    /// The passcode, and no finger.
    case passcode = "P"
    /// A finger, and the passcode where it is asked for after that.
    case fingerFirst = "f"
    /// The passcode, and a finger where it is asked for after that.
    case passcodeFirst = "p"
}

/// What becomes of the machine between making an item and opening it.
package enum Happening: CaseIterable, Sendable {
    case nothing
    case fingerAdded
    case fingerRemoved
    /// The machine starts in another way: register 7 has another value.
    case otherStart
    case counterLost
    /// The line to the chip is cut at each command.
    case chipBusy
    case chipCleared
}

/// Where an item lies, and by which interface it is opened.
package enum Place: String, CaseIterable, Codable, Sendable {
    /// A secret and a key of the command line.
    case secret, key
    /// A password and a key of the keychain.
    case password, keychainKey
    /// A key whose bytes the program keeps.
    case enclaveKey
    /// A right that was saved with a secret.
    case right
    /// A key pair for signing in.
    case login
}

/// For each access control, who opens an item after what has happened; with the chip busy or cleared, nobody does.
///
/// `F` is a finger alone, `P` the passcode alone, `f` and `p` are both, with the finger or the passcode first.
package struct OpeningRow: Sendable {
    package let access: String
    /// The places that have items of this access control.
    package let places: [Place]
    private let nothing: String
    /// After a finger was added, and after one was removed.
    private let otherFingers: String
    private let otherStart: String
    /// Then no finger is asked for at all: the set of fingers cannot be trusted.
    private let counterLost: String

    package func openers(after happening: Happening) -> String {
        switch happening {
        case .nothing: nothing
        case .fingerAdded, .fingerRemoved: otherFingers
        case .otherStart: otherStart
        case .counterLost: counterLost
        case .chipBusy, .chipCleared: ""
        }
    }

    private init(
        _ access: String,
        _ places: [Place],
        _ nothing: String,
        _ otherFingers: String,
        _ otherStart: String,
        _ counterLost: String
    ) {
        self.access = access
        self.places = places
        self.nothing = nothing
        self.otherFingers = otherFingers
        self.otherStart = otherStart
        self.counterLost = counterLost
    }

    private static let items: [Place] = [.secret, .key, .password, .keychainKey, .enclaveKey]
    private static let all = items + [.right, .login]
    private static let commandLine: [Place] = [.secret, .key]

    package static let table = [
        //        access control                       places       nothing  fingers  start   counter
        OpeningRow("none", [.secret, .key, .keychainKey, .enclaveKey], "FPfp", "FPfp", "FPfp", "FPfp"),
        OpeningRow("none+application-password", [.secret, .key, .password], "FPfp", "FPfp", "FPfp", "FPfp"),
        OpeningRow("biometry-any", all, "Ffp", "Ffp", "Ffp", ""),
        OpeningRow("biometry-current-set", all, "Ffp", "", "Ffp", ""),
        OpeningRow("passcode", items, "Pfp", "Pfp", "Pfp", "Pfp"),
        OpeningRow("user-presence", all, "FPfp", "FPfp", "FPfp", "Pfp"),
        OpeningRow("biometry-current-set-or-passcode", items, "FPfp", "Pfp", "FPfp", "Pfp"),
        // A login is stricter than its key: whoever knows the passcode may have added the finger.
        OpeningRow("biometry-current-set-or-passcode", [.login], "FPfp", "", "FPfp", "Pfp"),
        OpeningRow("biometry-current-set-and-passcode", items, "fp", "", "fp", ""),
        OpeningRow(
            "biometry-current-set-or-passcode+application-password",
            [.secret, .key, .password],
            "FPfp",
            "Pfp",
            "FPfp",
            "Pfp"
        ),
        OpeningRow("none+pcrs:7", commandLine, "FPfp", "FPfp", "Pfp", "FPfp"),
        OpeningRow("biometry-any+pcrs:7", commandLine, "Ffp", "Ffp", "fp", ""),
        OpeningRow("biometry-current-set+pcrs:7", commandLine, "Ffp", "", "fp", ""),
        OpeningRow("biometry-current-set-or-passcode+pcrs:7", commandLine, "FPfp", "Pfp", "Pfp", "Pfp"),
    ]
}
