// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
import WhorlFingerprint
public import WhorlService
import WhorlSupport

extension Finger {
    /// Creates the finger from an argument.
    init(argument: String) throws(Failure) {
        guard let finger = Finger(name: argument) else { throw Finger.unknown(argument) }
        self = finger
    }

    /// Returns the failure for a name that is not a finger; it suggests the closest name, or how to list the names.
    static func unknown(_ argument: String) -> Failure {
        let typed = DisplayText.clean(argument, limit: 40)
        let hint =
            nearest(to: argument).map { "Did you mean \($0.rawValue)?" }
            ?? "Use a name such as right-index-finger or left-thumb; `whorl help enroll` lists them."
        return .usage("Unknown finger “\(typed)”.", hint: hint)
    }

    /// The names for help texts and completions.
    static let allNames = allCases.map(\.rawValue)
}

extension FingerSelection {
    /// Creates the selection for `whorl remove`: a finger, a print's ID, or everything.
    init(argument: String?, all: Bool, on reader: ReaderID?) throws(Failure) {
        switch (argument, all) {
        case (nil, true): self = .all
        case (let name?, false):
            if let id = PrintID(name) {
                self = .print(id)
            } else {
                self = .finger(try Finger(argument: name), on: reader)
            }
        case (nil, false), (_?, true):
            throw .usage(
                "Specify a finger, an ID, or --all.",
                hint: "`whorl fingers` lists the enrolled fingers."
            )
        }
    }
}

extension Policy: ExpressibleByArgument {
    /// Creates the policy from its Whorl name, or from Apple's long name.
    public init?(argument: String) {
        switch argument {
        case "biometrics", "deviceOwnerAuthenticationWithBiometrics": self = .biometrics
        case "device-owner", "deviceOwnerAuthentication": self = .deviceOwner
        default: return nil
        }
    }

    /// The names shown in help texts.
    public static var allValueStrings: [String] { allCases.map(\.rawValue) }
}
