// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlFingerprint
import WhorlRemote
import WhorlSystem

/// The prints of all users, in folders as fprintd writes them.
struct PrintStore: Sendable {
    private let root: String
    private let folder: PrintFolder

    init(root: String) {
        self.root = root
        folder = PrintFolder(root: root)
    }

    func fingers(of user: String, on reader: ReaderKey) -> [Finger] { folder.fingers(of: user, on: reader) }

    func template(_ finger: Finger, of user: String, on reader: ReaderKey) -> Template? {
        folder.template(finger, of: user, on: reader)
    }

    func users() -> [String] { folder.users() }

    /// Keeps a print, in place of the finger's former one.
    func save(_ template: Template, _ finger: Finger, of user: String, on reader: ReaderKey) throws {
        let place = place(of: user, reader)
        try FileManager.default.createDirectory(
            atPath: place,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        try Data(template.bytes).write(to: URL(filePath: file(finger, in: place)), options: .atomic)
    }

    /// Deletes the print of a finger, if there is one, and the folders that are empty then.
    func remove(_ finger: Finger, of user: String, on reader: ReaderKey) throws {
        let place = place(of: user, reader)
        guard unlink(file(finger, in: place)) == 0 || errno == ENOENT else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        // rmdir(2) takes empty folders only; one that is not stays.
        guard rmdir(place) == 0, rmdir("\(root)/\(user)/\(reader.driver)") == 0 else { return }
        rmdir("\(root)/\(user)")
    }

    /// The name of a user is one plain component: ``FprintDevice`` refuses any other.
    private func place(of user: String, _ reader: ReaderKey) -> String {
        "\(root)/\(user)/\(reader.driver)/\(reader.number)"
    }

    private func file(_ finger: Finger, in place: String) -> String {
        "\(place)/\(String(finger.number, radix: 16))"
    }
}
