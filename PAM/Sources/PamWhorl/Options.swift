// SPDX-License-Identifier: Apache-2.0

/// The options of a line in `/etc/pam.d`.
struct Options: Equatable {
    /// The number of seconds to wait for a touch.
    var timeout = 30
    /// The maximum number of failed touches.
    var mostTries = 3
    /// Whether no password is accepted instead of the touch.
    var isFingerOnly = false
    /// Whether a touch also provides the login password, if the user has enabled that.
    var opensKeyring = false
    /// Whether the line only stores a password that earlier modules have verified.
    var keepsPassword = false
    /// The socket of the service.
    var socket = Bytes("/run/whorl/io.whorl")

    /// Parses an argument of the line.
    ///
    /// `false` if the option or its value is invalid, in which case it is ignored.
    mutating func take(_ word: Bytes) -> Bool {
        guard let equals = word.firstIndex(of: UInt8(ascii: "=")) else { return take(flag: word) }
        return take(Bytes(word[..<equals]), Bytes(word[(equals + 1)...]))
    }

    private mutating func take(flag: Bytes) -> Bool {
        if flag.isText("finger-only") {
            isFingerOnly = true
        } else if flag.isText("keyring") {
            opensKeyring = true
        } else if flag.isText("keep") {
            keepsPassword = true
        } else {
            // Remote users are never asked for a touch. The option exists for the readers of the file.
            return flag.isText("no-remote")
        }
        return true
    }

    private mutating func take(_ name: Bytes, _ value: Bytes) -> Bool {
        if name.isText("socket") {
            guard value.first == UInt8(ascii: "/"), value.count < 108 else { return false }
            socket = value
            return true
        }
        guard let number = value.number, number >= 1 else { return false }
        if name.isText("timeout"), number <= 300 {
            timeout = number
        } else if name.isText("max-tries"), number <= 3 {
            mostTries = number
        } else {
            return false
        }
        return true
    }

    /// The folder of the socket.
    var folder: Bytes {
        guard let slash = socket.lastIndex(of: UInt8(ascii: "/")), slash > 0 else { return Bytes("/") }
        return Bytes(socket[0..<slash])
    }
}
