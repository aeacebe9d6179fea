// SPDX-License-Identifier: Apache-2.0

/// A message from the service, limited to the members that concern a login.
struct Reply: Equatable {
    /// The name of the error; `nil` in a reply without one.
    var error: Bytes?
    /// Whether further messages follow.
    var continues = false
    /// Whether a finger of the user matched.
    var matched = false
    /// A message for the user, which is safe to show on a terminal.
    var message: Bytes?
    /// The reason for a refusal.
    var reason: Bytes?
    /// Whether the file that came with this message contains the keyring's own password, and not the login password.
    var hasKeyringPassword = false
    /// The number that this process must repeat to prove its identity to the service.
    var question: Bytes?

    /// Whether this message confirms a match: it is the last one, has no error, and reports the match itself.
    var isMatch: Bool { matched && !continues && error == nil }

    /// Parses a message; `nil` for invalid bytes.
    init?(_ bytes: Bytes) {
        var reader = JSONReader(bytes)
        var reply = Reply()
        var seen = Seen()
        do throws(NotJSON) {
            try reader.whole { (reader, name) throws(NotJSON) in
                if name.isText("error") {
                    try seen.note(.error)
                    // An error without a name is still an error.
                    reply.error = try reader.text() ?? []
                } else if name.isText("continues") {
                    try seen.note(.continues)
                    reply.continues = try reader.flag()
                } else if name.isText("parameters") {
                    try seen.note(.parameters)
                    try reply.readParameters(&reader, &seen)
                } else {
                    try reader.skip()
                }
            }
        } catch {
            return nil
        }
        self = reply
    }

    private init() {}

    /// The members that affect the decision.
    ///
    /// A duplicate could contradict the first one.
    private struct Seen {
        enum Member: UInt8 { case error = 1, continues = 2, parameters = 4, matched = 8 }

        private var members: UInt8 = 0

        mutating func note(_ member: Member) throws(NotJSON) {
            guard members & member.rawValue == 0 else { throw NotJSON() }
            members |= member.rawValue
        }
    }

    private mutating func readParameters(_ reader: inout JSONReader, _ seen: inout Seen) throws(NotJSON) {
        var read = self
        try reader.object { (reader, name) throws(NotJSON) in
            if name.isText("matched") {
                try seen.note(.matched)
                read.matched = try reader.flag()
            } else if name.isText("message") {
                read.message = try reader.text().map(Self.shown)
            } else if name.isText("reason") {
                read.reason = try reader.text()
            } else if name.isText("question") {
                read.question = try reader.text()
            } else if name.isText("keyringPassword") {
                read.hasKeyringPassword = true
                try reader.skip(depth: 3)
            } else {
                try reader.skip(depth: 3)
            }
        }
        self = read
    }

    /// Returns text without terminal control characters, limited to a length that fits on the terminal.
    private static func shown(_ text: Bytes) -> Bytes {
        var shown: Bytes = []
        for byte in text {
            // In UTF-8, C1 control characters consist of 0xc2 and a second byte below 0xa0.
            if byte < 0x20 || byte == 0x7f || (shown.last == 0xc2 && byte < 0xa0) {
                if shown.last == 0xc2 { shown.removeLast() }
                shown.append(UInt8(ascii: " "))
            } else {
                shown.append(byte)
            }
            if shown.count >= 200 { break }
        }
        return shown
    }
}

/// The calls of a login, each terminated by a zero byte.
enum Call {
    /// Requests the number with which this process proves its identity.
    static var challenge: Bytes { Bytes(#"{"method":"io.whorl.Connection.Challenge"}\#0"#) }

    /// Repeats the number.
    static func prove(_ question: Bytes) -> Bytes {
        var call = Bytes(#"{"method":"io.whorl.Connection.Prove","parameters":{"answer":"#)
        call.append(quoted: question)
        call.append("}}\0")
        return call
    }

    /// Requests a touch, for a login or for a screen locker that runs as its user.
    ///
    /// The process of the agent, if there is one, is sent with the call.
    static func verify(_ login: Login, _ options: Options) -> Bytes {
        var call = Bytes(#"{"method":"io.whorl.Login."#)
        call.append(login.isOfUser ? "UnlockScreen" : "Verify")
        call.append(#"","more":true,"parameters":{"#)
        if !login.isOfUser {
            call.append(#""user":"#, Int64(login.user))
            call.append(",")
        }
        call.append(#""service":"#)
        call.append(quoted: login.service)
        if !login.isOfUser {
            if let terminal = login.terminal {
                call.append(#","terminal":"#)
                call.append(quoted: terminal)
            }
            if let host = login.remoteHost {
                call.append(#","remoteHost":"#)
                call.append(quoted: host)
            }
        }
        call.append(#","timeoutMilliseconds":"#)
        call.append(decimal: UInt64(options.timeout) * 1000)
        call.append(#","mostTries":"#)
        call.append(decimal: UInt64(options.mostTries))
        if options.opensKeyring, !login.isOfUser {
            call.append(#","keyring":true"#)
            call.append(#","passwordChangedOn":"#, login.passwordChangedOn)
        }
        if login.agent >= 0 { call.append(#","agent":0"#) }
        call.append("}}\0")
        return call
    }

    /// Stores a password, which is sent with the call.
    static func keep(_ login: Login) -> Bytes {
        var call = Bytes(#"{"method":"io.whorl.Login.Keep","parameters":{"password":0,"user":"#)
        call.append(decimal: UInt64(login.user))
        call.append(#","changedOn":"#, login.passwordChangedOn)
        call.append("}}\0")
        return call
    }

    /// Tells the service that the password was changed.
    ///
    /// The old and the new password are sent with the call if both are known.
    static func passwordChanged(_ login: Login, withPasswords: Bool) -> Bytes {
        var call = Bytes(#"{"method":"io.whorl.Login.PasswordChanged","parameters":{"user":"#)
        call.append(decimal: UInt64(login.user))
        if withPasswords { call.append(#","old":0,"new":1"#) }
        call.append("}}\0")
        return call
    }
}

extension Bytes {
    /// Appends a numeric member, if there is a number.
    fileprivate mutating func append(_ name: StaticString, _ number: Int64) {
        guard number >= 0 else { return }
        append(name)
        append(decimal: UInt64(number))
    }
}

/// The login that PAM authenticates.
struct Login: Equatable {
    /// The user id.
    var user: UInt32
    /// Whether this process runs as the user, such as a screen locker, and not as root.
    var isOfUser = false
    /// The name of the service, such as `sudo`.
    var service: Bytes
    /// The terminal, as reported by PAM.
    var terminal: Bytes?
    /// The host from which the user logs in, as reported by PAM.
    var remoteHost: Bytes?
    /// The day of the password's last change, in days since 1970-01-01; -1 if the system does not report it.
    var passwordChangedOn: Int64 = -1
    /// The process of the user's polkit agent; -1 without one.
    var agent: Int32 = -1

    /// Whether the user is at another machine.
    var isRemote: Bool {
        guard let remoteHost else { return false }
        return !remoteHost.isEmpty && !remoteHost.isText("localhost")
    }
}
