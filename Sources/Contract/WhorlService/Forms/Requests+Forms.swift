// SPDX-License-Identifier: Apache-2.0

/// The encoding of a request for messages between processes; it omits the session, which messages identify separately.
extension EvaluationRequest: Codable {
    private enum Member: String, CodingKey {
        case policy = "policy"
        case purpose = "purpose"
        case reason = "reason"
        case cancelTitle = "cancelTitle"
        case fallbackTitle = "fallbackTitle"
        case reuse = "reuseMilliseconds"
        case interactionAllowed = "interactionAllowed"
        case timeout = "timeoutMilliseconds"
        case application = "application"
        case takesPasscodeAlone = "passcodeAlone"
    }

    /// Decodes a request.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        self.init(
            policy: try members.decode(Policy.self, forKey: .policy),
            purpose: try members.decode(TouchPurpose.self, forKey: .purpose),
            reason: try members.decode(String.self, forKey: .reason),
            application: try members.decode(ApplicationID.self, forKey: .application),
            cancelTitle: try members.decodeIfPresent(String.self, forKey: .cancelTitle),
            fallbackTitle: try members.decodeIfPresent(String.self, forKey: .fallbackTitle),
            reuse: try members.milliseconds(.reuse),
            interactionAllowed: try members.decode(Bool.self, forKey: .interactionAllowed),
            timeout: try members.milliseconds(.timeout)
        )
        takesPasscodeAlone = try members.decodeIfPresent(Bool.self, forKey: .takesPasscodeAlone) ?? false
    }

    /// Encodes the request without its session.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(policy, forKey: .policy)
        try members.encode(purpose, forKey: .purpose)
        try members.encode(reason, forKey: .reason)
        try members.encodeIfPresent(cancelTitle, forKey: .cancelTitle)
        try members.encodeIfPresent(fallbackTitle, forKey: .fallbackTitle)
        try members.encode(reuse.wholeMilliseconds, forKey: .reuse)
        try members.encode(interactionAllowed, forKey: .interactionAllowed)
        try members.encode(timeout.wholeMilliseconds, forKey: .timeout)
        try members.encode(application, forKey: .application)
        if takesPasscodeAlone { try members.encode(true, forKey: .takesPasscodeAlone) }
    }
}

/// The encoding of a request for messages between processes.
extension ConsentRequest: Codable {
    private enum Member: String, CodingKey {
        case application = "application"
        case timeout = "timeoutMilliseconds"
        case passcodeAlone = "passcodeAlone"
    }

    /// Decodes a request.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        self.init(
            application: try members.decode(ApplicationID.self, forKey: .application),
            timeout: try members.milliseconds(.timeout),
            passcodeAlone: try members.decodeIfPresent(Bool.self, forKey: .passcodeAlone) ?? false
        )
    }

    /// Encodes the request.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(application, forKey: .application)
        try members.encode(timeout.wholeMilliseconds, forKey: .timeout)
        if passcodeAlone { try members.encode(true, forKey: .passcodeAlone) }
    }
}

/// The encoding of a duration for messages between processes: a number of milliseconds.
extension Duration {
    /// The duration in milliseconds, rounded up and limited to the largest possible number.
    var wholeMilliseconds: Int64 {
        let (seconds, rest) = components
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
        let more = (rest + 999_999_999_999_999) / 1_000_000_000_000_000
        let (sum, isTooMuch) = whole.addingReportingOverflow(more)
        return isTooLong || isTooMuch ? .max : sum
    }
}

extension KeyedDecodingContainer {
    /// Decodes a duration of zero or more milliseconds.
    func milliseconds(_ key: Key) throws -> Duration {
        let count = try decode(Int64.self, forKey: key)
        guard count >= 0 else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "negative")
        }
        return .milliseconds(count)
    }
}
