// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// An error of enrolling, removing or looking up fingers.
public struct EnrollmentError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: Sendable, Hashable {
        /// A finger of this name is enrolled for this reader.
        case fingerExists(Finger)
        /// The same finger is enrolled under this name; `nil` if only the reader knows the name.
        case duplicate(of: Finger?)
        /// The last presentation did not match the print: the presses were not of one finger.
        case inconsistent
        /// Too many presentations could not be read.
        case tooManyRetries
        /// No finger came in time.
        case timedOut
        /// The enrolled fingers were changed from outside.
        case enrollmentTampered
        /// The enrolled fingers are an older state than the one last seen.
        case enrollmentRolledBack
        /// Other programs could open the reader that keeps a print, so the print may be another person's by now.
        case readerWasOpen
        /// The account's name changed, and no one has confirmed yet that the person is the same.
        case accountRenamed
        /// The owner has to agree first: by an enrolled finger or the passcode.
        case ownerNeeded
        /// The fingers, or the passcode, changed after the owner was asked.
        case changedMeanwhile
        /// Fingers are locked after too many failed tries.
        case lockedOut
        /// No such finger is enrolled.
        case noSuchFinger
        /// The reader that keeps the print is not connected.
        case readerNotConnected(ReaderID)
        /// The reader failed; also when the caller cancelled (``ReaderError/Code/cancelled``).
        case reader(ReaderError)
        /// The state directory failed.
        case store(StateError)
    }

    /// The kind of failure.
    public let code: Code
    /// A description of the cause, for logs; may be empty.
    ///
    /// It may hold text from outside.
    public let cause: String

    /// Describes a failure.
    public init(_ code: Code, cause: String = "") {
        self.code = code
        self.cause = cause
    }

    /// One sentence that says what happened.
    public var message: String {
        switch code {
        case .fingerExists(let finger): "The \(finger.spokenName) is enrolled for this reader already."
        case .duplicate(of: .some(let finger)):
            "This finger is enrolled already, as the \(finger.spokenName)."
        case .duplicate(of: nil): "This finger is enrolled in the reader already."
        case .inconsistent: "The presses were not of one finger."
        case .tooManyRetries: "The finger could not be read too many times in a row."
        case .timedOut: "No finger came in time."
        case .enrollmentTampered: "The enrolled fingers were changed from outside."
        case .enrollmentRolledBack: "The enrolled fingers are an older state than the one last seen."
        case .readerWasOpen: "Other programs could open the reader, so the fingers in it are not trusted."
        case .accountRenamed: "The name of this account changed, so its fingers are not trusted yet."
        case .ownerNeeded: "The owner has to agree: with an enrolled finger, or the passcode."
        case .changedMeanwhile: "The enrolled fingers changed after the owner was asked."
        case .lockedOut: "Fingers are locked after too many failed tries."
        case .noSuchFinger: "No such finger is enrolled."
        case .readerNotConnected(let reader): "The reader \(reader), which keeps the print, is not connected."
        case .reader(let error): error.message
        case .store(let error): error.message
        }
    }

    /// One sentence that says what the person can do.
    public var recovery: String {
        switch code {
        case .fingerExists(let finger): "Remove it first: `whorl remove \(finger.rawValue)`."
        case .duplicate(of: .some(let finger)):
            "Use it as it is, or remove it first: `whorl remove \(finger.rawValue)`."
        case .duplicate(of: nil):
            "Another user or system may have enrolled it: remove it there; `whorl doctor` lists such prints."
        case .inconsistent: "Enroll again, with the same finger at every touch."
        case .tooManyRetries: "Clean the sensor and the finger, then enroll again."
        case .timedOut: "Start again, and touch the reader when asked."
        case .enrollmentTampered, .enrollmentRolledBack:
            "With the passcode: `whorl fingers accept`. Without: `whorl remove --all`, then `whorl enroll`."
        case .readerWasOpen: "Enroll them again: `whorl remove --all`, then `whorl enroll`."
        case .accountRenamed:
            "Enter the passcode: `whorl passcode verify`. Without one, an administrator runs `sudo whorl account renamed`."
        case .ownerNeeded: "Touch the reader with an enrolled finger, or type the passcode, when asked."
        case .changedMeanwhile: "`whorl fingers` lists the enrolled ones; start again."
        case .lockedOut: "Verify the passcode with `whorl passcode verify`, or wait where none is set."
        case .noSuchFinger: "`whorl fingers` lists the enrolled ones."
        case .readerNotConnected:
            "Connect it and try again, or remove by force: the print then stays in the reader until it is "
                + "connected again."
        case .reader(let error): error.recovery
        case .store(let error): error.recovery
        }
    }

    /// The code and the cause, for logs.
    public var description: String {
        "\(code)" + (cause.isEmpty ? "" : " (\(cause))")
    }
}

extension EnrollmentError.Code {
    /// The name of the code, without the values that belong to it; programs compare it, so it never changes.
    public var name: String {
        switch self {
        case .fingerExists: "fingerExists"
        case .duplicate: "duplicate"
        case .inconsistent: "inconsistent"
        case .tooManyRetries: "tooManyRetries"
        case .timedOut: "timedOut"
        case .enrollmentTampered: "enrollmentTampered"
        case .enrollmentRolledBack: "enrollmentRolledBack"
        case .readerWasOpen: "readerWasOpen"
        case .accountRenamed: "accountRenamed"
        case .ownerNeeded: "ownerNeeded"
        case .changedMeanwhile: "changedMeanwhile"
        case .lockedOut: "lockedOut"
        case .noSuchFinger: "noSuchFinger"
        case .readerNotConnected: "readerNotConnected"
        case .reader: "reader"
        case .store: "store"
        }
    }
}

/// The form of an error between processes: an object with the name of its code, and the values that belong to it.
extension EnrollmentError: Codable {
    private enum Member: String, CodingKey {
        case code = "code"
        case cause = "cause"
        case finger = "finger"
        case reader = "reader"
        case failure = "failure"
        case store = "store"
    }

    /// Reads an error; a code that this version does not know is read as a failure of the reader, with its name as the
    /// cause.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        let name = try members.decode(String.self, forKey: .code)
        let code = try Self.code(name, members)
        self.init(
            code ?? .reader(ReaderError(.malfunction, operation: "service", cause: name)),
            cause: try members.decodeIfPresent(String.self, forKey: .cause) ?? ""
        )
    }

    private static func code(_ name: String, _ members: KeyedDecodingContainer<Member>) throws -> Code? {
        if let plain = plainCodes[name] { return plain }
        return switch name {
        case "fingerExists": .fingerExists(try members.decode(Finger.self, forKey: .finger))
        case "duplicate": .duplicate(of: try members.decodeIfPresent(Finger.self, forKey: .finger))
        case "readerNotConnected": .readerNotConnected(try members.decode(ReaderID.self, forKey: .reader))
        case "reader": .reader(try members.decode(ReaderError.self, forKey: .failure))
        case "store": .store(try members.decode(StateError.self, forKey: .store))
        default: nil
        }
    }

    /// The codes without values of their own, by their names.
    private static let plainCodes: [String: Code] = [
        Code.inconsistent, .tooManyRetries, .timedOut, .enrollmentTampered, .enrollmentRolledBack,
        .readerWasOpen, .accountRenamed, .ownerNeeded, .changedMeanwhile, .lockedOut, .noSuchFinger,
    ].reduce(into: [:]) { $0[$1.name] = $1 }

    /// Writes the error.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(code.name, forKey: .code)
        if !cause.isEmpty { try members.encode(cause, forKey: .cause) }
        switch code {
        case .fingerExists(let finger): try members.encode(finger, forKey: .finger)
        case .duplicate(let finger): try members.encodeIfPresent(finger, forKey: .finger)
        case .readerNotConnected(let reader): try members.encode(reader, forKey: .reader)
        case .reader(let error): try members.encode(error, forKey: .failure)
        case .store(let error): try members.encode(error, forKey: .store)
        default: break
        }
    }
}
