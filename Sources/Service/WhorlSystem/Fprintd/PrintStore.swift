// SPDX-License-Identifier: Apache-2.0

package import WhorlFingerprint

/// The place of a reader's prints: its driver, and the number that the driver gives it.
package struct ReaderKey: Sendable, Hashable {
    package let driver: String
    package let number: String

    package init(driver: String, number: String) {
        self.driver = driver
        self.number = number
    }
}

/// The prints of all users, by reader and finger.
package protocol PrintStore: Sendable {
    /// Returns the fingers of a user for which there is something, whether or not it can be read, in their order.
    func fingers(of user: String, on reader: ReaderKey) -> [Finger]
    /// Returns the print of a finger; `nil` for one that cannot be read.
    func template(_ finger: Finger, of user: String, on reader: ReaderKey) -> Template?
    /// Keeps a print, which is there after a crash too.
    func save(_ template: Template, _ finger: Finger, of user: String, on reader: ReaderKey)
        throws(PrintStoreFault)
    /// Deletes the print of a finger.
    func remove(_ finger: Finger, of user: String, on reader: ReaderKey) throws(PrintStoreFault)
    /// Returns the users who have prints.
    func users() -> [String]
    /// Returns all for which there is something on a reader, whether or not it can be read.
    ///
    /// - Throws: the reason for which some may be missing.
    func everything(on reader: ReaderKey) throws(PrintStoreFault) -> [(user: String, finger: Finger)]
}

/// The reason for which prints could not be changed.
package struct PrintStoreFault: Error, Sendable, Hashable {
    package let cause: String

    package init(_ cause: String) { self.cause = cause }
}
