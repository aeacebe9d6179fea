// SPDX-License-Identifier: Apache-2.0

/// A request to greetd, as described in greetd-ipc(7).
public enum Request: Sendable {
    /// Begins a login of a user.
    case create(name: String)
    /// Answers a question of PAM, or confirms that a message was shown.
    case answer(SecretText)
    /// Runs a command as the authenticated user after this program has ended.
    case start(command: String)
    /// Ends the login that was begun.
    case cancel

    /// The search path of a session.
    ///
    /// greetd does not read one from the user's files or the system's.
    private static let path = "PATH=/usr/local/bin:/usr/bin:/bin"

    /// The answer to a message that requires none.
    public static var confirmation: Request { .answer(SecretText(count: 0) { _ in }) }

    /// The message for greetd: its length in four bytes in native byte order, followed by JSON.
    public var message: SecretText {
        switch self {
        case .create(let name):
            Self.frame(#"{"type":"create_session","username":""#, SecretText(text: name), #""}"#)
        case .answer(let text):
            Self.frame(#"{"type":"post_auth_message_response","response":""#, text, #""}"#)
        case .start(let command):
            Self.frame(
                #"{"type":"start_session","env":["\#(Self.path)"],"cmd":[""#,
                SecretText(text: command),
                #""]}"#
            )
        case .cancel: Self.frame(#"{"type":"cancel_session"}"#, nil, "")
        }
    }

    /// Inserts a string between two parts of JSON.
    private static func frame(_ before: String, _ text: SecretText?, _ after: String) -> SecretText {
        let escaped = text?.read { $0.reduce(0) { $0 + (escape($1) == nil ? 1 : 6) } } ?? 0
        let length = before.utf8.count + escaped + after.utf8.count
        return SecretText(count: 4 + length) { room in
            room.storeBytes(of: UInt32(length), as: UInt32.self)
            var place = 4
            func put(_ byte: UInt8) {
                room[place] = byte
                place += 1
            }
            before.utf8.forEach(put)
            text?.read { bytes in
                for byte in bytes {
                    guard let digits = escape(byte) else {
                        put(byte)
                        continue
                    }
                    #"\u00"#.utf8.forEach(put)
                    put(digits.0)
                    put(digits.1)
                }
            }
            after.utf8.forEach(put)
        }
    }

    /// Returns the hexadecimal digits of a byte that JSON must escape.
    private static func escape(_ byte: UInt8) -> (UInt8, UInt8)? {
        guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7f else {
            return nil
        }
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
        return (digit(byte >> 4), digit(byte & 0xf))
    }
}

extension SecretText {
    /// Copies text that is not secret.
    convenience init(text: String) {
        let bytes = Array(text.utf8)
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }
}
