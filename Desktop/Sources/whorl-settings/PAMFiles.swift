// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The files of PAM, as far as they say which switches this computer has.
///
/// Whether a service accepts a touch is not read here, but by `whorl pam status`.
enum PAMFiles {
    /// The folders in which libpam looks for a service.
    private static let folders = ["/etc/pam.d", "/usr/lib/pam.d", "/usr/etc/pam.d", "/usr/share/pam.d"]

    /// Returns whether this computer has a service.
    static func has(service name: String) -> Bool {
        // `whorl pam add` creates the file that KDE's lock screen uses for fingers alone.
        let name = name == "kde-fingerprint" ? "kde" : name
        return folders.contains { access("\($0)/\(name)", F_OK) == 0 }
    }

    /// Returns whether this computer has a profile, and pam-auth-update.
    static func has(profile name: String) -> Bool {
        access("/usr/sbin/pam-auth-update", X_OK) == 0 && access("/usr/share/pam-configs/\(name)", F_OK) == 0
    }

    /// Returns whether a profile is enabled, by the line that pam-auth-update has written.
    static func isEnabled(profile name: String) -> Bool {
        // The keyring's profile is the only one with a line for sessions.
        let file = name == "whorl-keyring" ? "common-session" : "common-auth"
        return lines(of: file).contains { line in
            let words = line.split(whereSeparator: \.isWhitespace)
            return words.contains("pam_whorl.so") && !words.contains("keep")
        }
    }

    private static func lines(of name: String) -> [Substring] {
        guard let file = fopen("/etc/pam.d/\(name)", "re") else { return [] }
        defer { fclose(file) }
        // A larger file is not one of PAM's.
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self).split(whereSeparator: \.isNewline)
            .filter { $0.first { !$0.isWhitespace } != "#" }
    }
}
