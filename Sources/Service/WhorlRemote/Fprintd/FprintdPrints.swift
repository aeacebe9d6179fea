// SPDX-License-Identifier: Apache-2.0

internal import WhorlFingerprint
package import WhorlService

/// The prints in fprintd's folder, which are read but never changed.
package struct FprintdPrints: Sendable {
    /// The folder of an installed fprintd.
    package static let folder = "/var/lib/fprint"

    /// The prints of one user.
    package struct OfUser: Sendable {
        /// The user's name, which is the name of the folder.
        package let user: String
        /// The prints whose files could be read.
        package let prints: [ForeignPrint]
        /// The number of files that could not be read: links, pipes, and files larger than 4 MiB.
        package let unreadable: Int
    }

    private let folder: PrintFolder

    /// Creates access to a folder.
    package init(_ path: String = FprintdPrints.folder) { folder = PrintFolder(root: path) }

    /// Reads the prints of all users, sorted by user name.
    package func all() -> [OfUser] {
        folder.users().map { user in
            var prints: [ForeignPrint] = []
            var unreadable = 0
            for reader in folder.readers(of: user) {
                for finger in folder.fingers(of: user, on: reader) {
                    guard let template = folder.template(finger, of: user, on: reader) else {
                        unreadable += 1
                        continue
                    }
                    prints.append(
                        ForeignPrint(
                            finger: finger,
                            driver: reader.driver,
                            number: reader.number,
                            template: template
                        )
                    )
                }
            }
            return OfUser(user: user, prints: prints, unreadable: unreadable)
        }
    }
}
