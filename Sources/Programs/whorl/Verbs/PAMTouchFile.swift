// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The file of a PAM service that a screen locker calls for fingers alone, in parallel with its service for the
/// password.
///
/// kscreenlocker_greet calls `kde-fingerprint` in this way. A packaged file of that name is copied, with Whorl's module
/// in place of the one for fprintd; if there is none, the file contains only Whorl's line. Removing it can never disable
/// the password.
struct PAMTouchFile {
    /// The services for which the file is created, and the service for the password of each.
    private static let services = ["kde-fingerprint": "kde"]

    static let line = "auth\trequired\tpam_whorl.so"

    let service: String
    let files: PAMFolder
    private let passwordService: String

    private var path: String { "\(files.path)/\(service)" }

    private var newText: String {
        "# Created by `whorl pam add \(service)`, deleted by `whorl pam remove \(service)`.\n\(Self.line)\n"
    }

    /// Creates a description of a service's file; `nil` if the service is not one for fingers alone.
    init?(service: String, in files: PAMFolder) {
        guard let password = Self.services[service] else { return nil }
        self.service = service
        self.files = files
        passwordService = password
    }

    /// Whether the folder has no file for the service, so that this one can be created.
    var isAbsent: Bool { !Self.exists(path) }

    private static func exists(_ path: String) -> Bool {
        var found = Glibc.stat()
        // A broken link is also a file.
        return lstat(path, &found) == 0 || errno != ENOENT
    }

    /// Returns the packaged file, if there is one, and the file to create.
    ///
    /// - Throws: The failure to read a file, with its fault if a touch would skip a check of the password's service.
    func draft() throws -> (packaged: PAMStack?, new: PAMStack) {
        let packaged = files.vendorFile(of: service) == nil ? nil : try files.stack(of: service)
        let new = try packaged?.replacingFinger() ?? PAMStack(text: newText)
        let chain = try PAMChain(of: packaged ?? new, named: service, in: files)
        // libpam uses `other` for a service without a file.
        let names = [passwordService, "other"]
        if let name = names.first(where: {
            files.vendorFile(of: $0) != nil || Self.exists("\(files.path)/\($0)")
        }) {
            let password = try PAMChain(of: files.stack(of: name), named: name, in: files)
            try password.checkIsReplaceable(by: chain)
        }
        return (packaged, new)
    }

    /// Creates the file, complete or not at all; throws if another program creates one at the same time.
    func create(_ new: PAMStack, from packaged: PAMStack?) throws(Failure) {
        guard let packaged else { return try PAMFile.create(new, folder: files.path, service: service) }
        try files.replace(service, packaged, by: new)
    }

    /// Returns whether a file is the one that was created, without any change.
    func isUnchanged(_ stack: PAMStack) -> Bool {
        // Without a copy of the packaged file, or with a damaged one, the file did not come from it.
        stack.text == newText || (try? files.copiedStack(of: service)?.replacingFinger()) == stack
    }

    /// Deletes the file, after which libpam uses the packaged one again.
    func delete() throws(Failure) {
        guard unlink(path) == 0 else { throw .pam("Cannot remove \(path)", errno) }
        // Only now: with the copy, a second attempt still knows the file.
        unlink(files.vendorCopy(of: service))
    }
}
