// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlSecretMemory

/// The socket with which gnome-keyring's PAM module unlocks the login keyring, and changes its password.
///
/// Only programs of the same user can use it. A message is the number of its bytes, an operation, and passwords, each
/// after its length; numbers have four bytes, the highest one first. A byte that is zero precedes it.
struct KeyringControl {
    private enum Operation: UInt32 { case unlock = 1, change = 2 }

    /// The time for a reply; a new password also needs a new derivation of the keyring's key.
    private static let patience: Int32 = 30_000

    private let path: String

    /// Finds the socket of this user; throws if no keyring is running.
    init() throws(Failure) {
        path = UserFolder.path + "/keyring/control"
        guard access(path, F_OK) == 0, path.utf8.count < 108 else {
            throw Plasma.isRunning ? .kwallet : .noKeyring
        }
    }

    /// Unlocks the keyring; returns `false` if this is not its password.
    func unlock(_ password: SecretBox) throws(Failure) -> Bool { try ask(.unlock, [password]) }

    /// Changes the password; returns `false` if the old one is wrong.
    func change(from old: SecretBox, to new: SecretBox) throws(Failure) -> Bool {
        try ask(.change, [old, new])
    }

    private func ask(_ operation: Operation, _ passwords: [SecretBox]) throws(Failure) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .noKeyring }
        defer { close(descriptor) }
        guard connect(descriptor) else { throw .noKeyring }
        guard Self.isKeyring(descriptor) else { throw .otherKeyring }
        let isSent = Self.message(operation, passwords).withUnsafeBytes { bytes in
            // The first byte alone, because the keyring asks the kernel who has sent it.
            [bytes.prefix(1), bytes.dropFirst()].map(UnsafeRawBufferPointer.init(rebasing:)).allSatisfy {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) == $0.count
            }
        }
        var reply: [UInt8] = []
        while isSent, reply.count < 8 {
            var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            var byte: UInt8 = 0
            guard poll(&wait, 1, Self.patience) > 0, read(descriptor, &byte, 1) == 1 else { break }
            reply.append(byte)
        }
        switch reply {
        case [0, 0, 0, 8, 0, 0, 0, 0]: return true
        case [0, 0, 0, 8, 0, 0, 0, 1]: return false
        default: throw .noKeyring
        }
    }

    private func connect(_ descriptor: Int32) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafeBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) {
                Glibc.connect(descriptor, $0.baseAddress, socklen_t(bytes.count)) == 0
            }
        }
    }

    /// Returns whether the socket was made by gnome-keyring, or by the service manager that starts it.
    ///
    /// Another program of the user could have put its own socket there, to which the passwords are not sent.
    private static func isKeyring(_ descriptor: Int32) -> Bool {
        // SO_PEERCRED (socket(7)), which Glibc's module does not have.
        var peer: (process: Int32, user: UInt32, group: UInt32) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: peer))
        guard getsockopt(descriptor, SOL_SOCKET, 17, &peer, &size) == 0, peer.user == getuid() else {
            return false
        }
        let link = "/proc/\(peer.process)/exe"
        var room = [UInt8](repeating: 0, count: 4096)
        let count = readlink(link, &room, room.count)
        let path = String(decoding: room.prefix(max(count, 0)), as: UTF8.self)
        var file = stat()
        return path.hasPrefix("/usr/")
            && ["gnome-keyring-daemon", "systemd"].contains(path.split(separator: "/").last)
            && stat(link, &file) == 0 && file.st_uid == 0 && file.st_mode & 0o022 == 0
    }

    private static func message(_ operation: Operation, _ passwords: [SecretBox]) -> SecretBytes {
        let count = 8 + passwords.reduce(0) { $0 + 4 + $1.bytes.count }
        return SecretBytes(count: 1 + count) { room in
            var place = 1
            func append(_ number: UInt32) {
                withUnsafeBytes(of: number.bigEndian) { room[place..<place + 4].copyBytes(from: $0) }
                place += 4
            }
            append(UInt32(count))
            append(operation.rawValue)
            for password in passwords {
                append(UInt32(password.bytes.count))
                password.bytes.withUnsafeBytes { room[place..<place + $0.count].copyBytes(from: $0) }
                place += password.bytes.count
            }
        }
    }
}

extension Failure {
    /// The failure if gnome-keyring does not respond.
    static let noKeyring = Failure(
        code: "noKeyring",
        message: "gnome-keyring does not respond.",
        recovery: "Use a session in which it runs. KWallet is not supported."
    )
    /// The failure if another program has taken the place of gnome-keyring.
    static let otherKeyring = Failure(
        code: "noKeyring",
        message: "The keyring's socket does not belong to gnome-keyring.",
        recovery: "Log out and in again. Another of your programs may have replaced it."
    )
    /// The failure if the service's password is not the keyring's.
    static let otherKeyringPassword = Failure(
        code: "keyringPasswordWrong",
        message: "The keyring has another password than the service.",
        recovery: "A change of it may not have ended: run `whorl keyring on --on-demand` again."
    )
    /// The failure if the service no longer has the keyring's own password.
    static let keyringPasswordLost = Failure(
        code: "keyringPasswordLost",
        message: "The keyring's own password was lost when the vault was reset.",
        recovery: "With its recovery sheet: `whorl keyring off --from-sheet`."
    )
    /// The failure if the keyring does not accept a password.
    static let wrongKeyringPassword = Failure(
        code: "keyringPasswordWrong",
        message: "The keyring has another password.",
        recovery: "Enter the password that unlocks the keyring, which is usually your login password."
    )
}

/// The folder with the sockets of this user's programs.
enum UserFolder {
    /// The folder that this login has set, or the one that systemd uses.
    static var path: String {
        getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? "/run/user/\(getuid())"
    }
}
