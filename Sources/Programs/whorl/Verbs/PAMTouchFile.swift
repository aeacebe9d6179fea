// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The file of a PAM service that a screen locker calls for fingers alone, in parallel with its service for the
/// password.
///
/// kscreenlocker_greet calls `kde-fingerprint` in this way, but few distributions have that file. The file contains
/// only Whorl's line. It replaces a packaged one in effect, because a locker asks no more of this service than to
/// authenticate, and removing it can never disable the password.
struct PAMTouchFile {
    /// The services for which the file is created.
    private static let services: Set = ["kde-fingerprint"]

    static let line = "auth\trequired\tpam_whorl.so"

    let service: String
    let files: PAMFolder

    private var path: String { "\(files.path)/\(service)" }

    private var text: String {
        "# Created by `whorl pam add \(service)`, deleted by `whorl pam remove \(service)`.\n\(Self.line)\n"
    }

    /// Creates a description of a service's file; `nil` if the service is not one for fingers alone.
    init?(service: String, in files: PAMFolder) {
        guard Self.services.contains(service) else { return nil }
        self.service = service
        self.files = files
    }

    /// Whether the folder has no file for the service, so that this one can be created.
    var isAbsent: Bool {
        var found = Glibc.stat()
        // A broken link is also a file.
        return lstat(path, &found) != 0 && errno == ENOENT
    }

    /// Returns whether a file is the one that was created, without any change.
    func isUnchanged(_ stack: PAMStack) -> Bool { stack.text == text }

    /// Creates the file, complete or not at all; throws if another program creates one at the same time.
    func create() throws(Failure) {
        try PAMFile.create(PAMStack(text: text), folder: files.path, service: service)
    }

    /// Deletes the file.
    func delete() throws(Failure) {
        guard unlink(path) == 0 else { throw .pam("Cannot remove \(path)", errno) }
    }
}
