// SPDX-License-Identifier: Apache-2.0

package import WhorlFingerprint

/// A print that another program, such as fprintd, has made and kept.
package struct ForeignPrint: Sendable, Hashable {
    /// The finger, by the print's place.
    package let finger: Finger
    /// The driver of its reader, by the print's place.
    package let driver: String
    /// The number that the driver gives the reader, by the print's place.
    package let number: String
    /// The print, in libfprint's own form.
    package let template: Template

    package init(finger: Finger, driver: String, number: String, template: Template) {
        self.finger = finger
        self.driver = driver
        self.number = number
        self.template = template
    }
}

/// The outcome for a print that was to be taken over.
package enum TakingOver: String, Sendable, Codable, CaseIterable {
    /// It is enrolled from now on; in a trial, it would be.
    case taken = "taken"
    /// The bytes are no print.
    case unreadable = "unreadable"
    /// The print is of another finger, user or reader than its place says.
    case elsewhere = "elsewhere"
    /// The print is of a virtual reader, and the service takes none.
    case pretended = "pretended"
}
