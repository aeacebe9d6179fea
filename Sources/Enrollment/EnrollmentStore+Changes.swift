// SPDX-License-Identifier: Apache-2.0

package import Fingerprint
package import Foundation

extension EnrollmentStore {
    /// Adds one print to the set: row, generation, history and MAC in one transaction.
    ///
    /// - Throws: `fingerExists`, `enrollmentTampered`, `enrollmentRolledBack`, `store`.
    package func add(
        _ template: Template,
        as finger: Finger,
        label: String?,
        profile: String,
        on reader: ReaderInfo,
        id: PrintID = PrintID(),
        at date: Date
    ) async throws(EnrollmentError) -> EnrolledFinger { fatalError() }
}
