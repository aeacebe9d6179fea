// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlService
import WhorlSSH
import WhorlSupport

/// The folder `~/.ssh/whorl`, which contains one `.pub` file for each key.
///
/// `ssh` selects a key by its file, so that a server does not refuse a login after too many keys.
struct SSHFolder {
    let path: String

    /// Finds the folder of this user; throws if the user has no home directory.
    init() throws(Failure) {
        guard let home = getenv("HOME").map({ String(cString: $0) }), home.hasPrefix("/") else {
            throw Failure(
                code: "noHome",
                message: "HOME is not set.",
                recovery: "Set it to your home directory."
            )
        }
        path = home + "/.ssh/whorl"
    }

    /// Returns the path of a key's file, which no other key has.
    ///
    /// Letters A to Z, digits and `._@-` stay; each other byte becomes `+` and two digits, because it may have a meaning in
    /// a path or in ssh_config(5). So does the hyphen of `-cert` at the end, which is the name of a certificate's file.
    func file(of name: ItemName) -> String {
        let isCertificates = name.text.hasSuffix("-cert")
        let bytes = Array(name.text.utf8)
        var safe = ""
        for (place, byte) in bytes.enumerated() {
            let isPlain =
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
                default: "._@-".utf8.contains(byte)
                }
            if isPlain, !(isCertificates && place == bytes.count - 5) {
                safe.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                safe += (byte < 16 ? "+0" : "+") + String(byte, radix: 16)
            }
        }
        return "\(path)/\(safe).pub"
    }

    /// Returns whether a file is one that this program wrote for a key, and not a certificate or another key.
    func isOwn(_ file: String) -> Bool {
        // A comment that is not the name of an item was not written by this program.
        guard let words = Files.text(file)?.split(separator: " ", maxSplits: 2), words.count == 3,
            words[0] == "ecdsa-sha2-nistp256", words[2].hasSuffix("\n"),
            let name = try? ItemName(String(words[2].dropLast()))
        else { return false }
        return self.file(of: name) == file
    }

    /// Returns the path of a file as it is written in ssh_config(5).
    func shown(_ file: String) -> String {
        "~/.ssh/whorl/" + file.dropFirst(path.count + 1)
    }

    /// Creates the folder, and the one above it, for this user alone.
    func make() throws(Failure) {
        let above = String(path.dropLast("/whorl".count))
        var found = stat()
        guard lstat(path, &found) != 0 || found.st_mode & S_IFMT == S_IFDIR else {
            throw Failure(
                code: "unwritable",
                status: .storeFailed,
                message: "\(path) is not a folder.",
                recovery: "Rename or remove it, and try again."
            )
        }
        for folder in [above, path] where mkdir(folder, 0o700) != 0 && errno != EEXIST {
            throw Failure(
                code: "unwritable",
                status: .storeFailed,
                message: "Cannot create \(folder).",
                reason: String(cString: strerror(errno)),
                recovery: "Check that you may write to it."
            )
        }
    }

    /// Writes a key's file.
    func write(_ line: String, to file: String) throws(Failure) {
        try OutputFile(path: file, content: "public key").replace(with: Array((line + "\n").utf8))
    }

    /// The `.pub` files in the folder.
    var files: [String] {
        Files.names(in: path).filter { $0.hasSuffix(".pub") }.sorted().map { "\(path)/\($0)" }
    }
}
