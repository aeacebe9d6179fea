// SPDX-License-Identifier: Apache-2.0

/// The form of an error between processes: an object with the name of its code, and the values that belong to it.
extension VaultError: Codable {
    private enum Member: String, CodingKey {
        case code = "code"
        case subject = "subject"
        case cause = "cause"
        case refusal = "refusal"
        case bytes = "bytes"
        case character = "character"
        case reason = "reason"
        case milliseconds = "milliseconds"
        case items = "items"
        case store = "store"
    }

    /// Reads an error; a code that this version does not know is read as `chipFailed`, with its name as the cause.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        let name = try members.decode(String.self, forKey: .code)
        let code = try Self.code(name, members)
        let cause = try members.decodeIfPresent(String.self, forKey: .cause) ?? ""
        self.init(
            code ?? .chipFailed,
            try members.decodeIfPresent(String.self, forKey: .subject) ?? "",
            cause: code == nil ? "\(name) \(cause)" : cause
        )
    }

    private static func code(
        _ name: String,
        _ members: KeyedDecodingContainer<Member>
    ) throws -> Code? {
        func bytes() throws -> Int { try members.decode(Int.self, forKey: .bytes) }
        if let plain = plainCodes[name] { return plain }
        return switch name {
        case "nameRefused": .nameRefused(try refusal(members))
        case "secretTooLarge": .secretTooLarge(bytes: try bytes())
        case "digestWrongSize": .digestWrongSize(bytes: try bytes())
        case "accessRefused": .accessRefused(try members.decode(String.self, forKey: .reason))
        case "passcodeThrottled": .passcodeThrottled(for: try members.milliseconds(.milliseconds))
        case "applicationPasswordThrottled":
            .applicationPasswordThrottled(for: try members.milliseconds(.milliseconds))
        case "passcodeNeeded": .passcodeNeeded(by: try members.decode([String].self, forKey: .items))
        case "store": .store(try members.decode(StateError.self, forKey: .store))
        default: nil
        }
    }

    /// The codes without values of their own, by their names.
    private static let plainCodes: [String: Code] = [
        Code.noChip, .chipBusy, .chipCrowded, .chipFailed, .chipCleared, .ownerAuthorizationNeeded,
        .chipFull,
        .chipLockedOut, .counterLost, .noSuchItem, .itemExists, .enrollmentChanged, .itemTampered,
        .measuredBootChanged, .accessDenied, .applicationPasswordNeeded, .applicationPasswordWrong,
        .secretEmpty, .publicKeyRefused, .passcodeNotSet, .passcodeExists, .passcodeWrongSize,
        .passcodeWrong, .passcodeBusy,
        .noEndorsement, .credentialRefused,
    ].reduce(into: [:]) { $0[$1.name] = $1 }

    private static func refusal(_ members: KeyedDecodingContainer<Member>) throws -> ItemName.Refusal {
        switch try members.decode(String.self, forKey: .refusal) {
        case "empty": .empty
        case "tooLong": .tooLong(bytes: try members.decode(Int.self, forKey: .bytes))
        case "character": .character(try members.decode(UInt32.self, forKey: .character))
        default: .edge
        }
    }

    /// Writes the error.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(code.name, forKey: .code)
        if !subject.isEmpty { try members.encode(subject, forKey: .subject) }
        if !cause.isEmpty { try members.encode(cause, forKey: .cause) }
        switch code {
        case .nameRefused(let refusal): try VaultError.encode(refusal, in: &members)
        case .secretTooLarge(let bytes), .digestWrongSize(let bytes):
            try members.encode(bytes, forKey: .bytes)
        case .accessRefused(let reason): try members.encode(reason, forKey: .reason)
        case .passcodeThrottled(let wait), .applicationPasswordThrottled(let wait):
            try members.encode(wait.wholeMilliseconds, forKey: .milliseconds)
        case .passcodeNeeded(let items): try members.encode(items, forKey: .items)
        case .store(let error): try members.encode(error, forKey: .store)
        default: break
        }
    }

    private static func encode(
        _ refusal: ItemName.Refusal,
        in members: inout KeyedEncodingContainer<Member>
    ) throws {
        switch refusal {
        case .empty: try members.encode("empty", forKey: .refusal)
        case .tooLong(let bytes):
            try members.encode("tooLong", forKey: .refusal)
            try members.encode(bytes, forKey: .bytes)
        case .character(let value):
            try members.encode("character", forKey: .refusal)
            try members.encode(value, forKey: .character)
        case .edge: try members.encode("edge", forKey: .refusal)
        }
    }
}
