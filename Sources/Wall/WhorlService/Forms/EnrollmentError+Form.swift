// SPDX-License-Identifier: Apache-2.0

internal import WhorlFingerprint

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
    private static let plainCodes: [String: Code] = Dictionary(
        uniqueKeysWithValues: [
            Code.inconsistent, .tooManyRetries, .timedOut, .enrollmentTampered, .enrollmentRolledBack,
            .ownerNeeded,
            .changedMeanwhile, .lockedOut, .noSuchFinger,
        ].map { ($0.name, $0) }
    )

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
