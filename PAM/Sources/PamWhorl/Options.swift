// SPDX-License-Identifier: Apache-2.0

/// The options of a line in `/etc/pam.d`.
struct Options: Equatable {
    /// The seconds for which a touch is waited for.
    var timeout = 30
    /// The number of touches that may fail.
    var mostTries = 3
    /// Whether no password is asked for beside the finger.
    var isFingerOnly = false
    /// Whether a touch hands the login password over, where its owner has turned that on.
    var opensKeyring = false
    /// Whether the line keeps a password that the lines before have checked, and asks for nothing.
    var keepsPassword = false
    /// The socket of the service.
    var socket = Bytes("/run/whorl/io.whorl")

    /// Takes a word of the line; `false` for one that is no option, or has a value that is not allowed, which changes
    /// nothing.
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
            // A person at another machine is never asked for a touch; the word says so for the reader of the file.
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
