// SPDX-License-Identifier: Apache-2.0

/// The options of a line in `/etc/pam.d`.
struct Options: Equatable {
    /// The seconds for which a touch is waited for.
    var timeout = 30
    /// The number of touches that may fail.
    var mostTries = 3
    /// Whether no password is asked for beside the finger.
    var isFingerOnly = false
    /// The socket of the service.
    var socket = Bytes("/run/whorl/io.whorl")

    /// Takes a word of the line; `false` for one that is no option, or has a value that is not allowed, which changes
    /// nothing.
    mutating func take(_ word: Bytes) -> Bool {
        if word.isText("finger-only") {
            isFingerOnly = true
            return true
        }
        // A person at another machine is never asked for a touch; the word says so for the reader of the file.
        if word.isText("no-remote") { return true }
        if let value = word.after("timeout=") {
            guard let seconds = value.number, seconds >= 1, seconds <= 300 else { return false }
            timeout = seconds
            return true
        }
        if let value = word.after("max-tries=") {
            guard let tries = value.number, tries >= 1, tries <= 3 else { return false }
            mostTries = tries
            return true
        }
        if let value = word.after("socket=") {
            guard value.first == UInt8(ascii: "/"), value.count < 108 else { return false }
            socket = value
            return true
        }
        return false
    }

    /// The folder of the socket.
    var folder: Bytes {
        guard let slash = socket.lastIndex(of: UInt8(ascii: "/")), slash > 0 else { return Bytes("/") }
        return Bytes(socket[0..<slash])
    }
}
