// SPDX-License-Identifier: Apache-2.0

import Fingerprint
import Synchronization

/// The enrollments and removals that tasks of this process are busy with.
///
/// Other processes cannot be busy at a reader that this one has opened; in the same process a reader is shared,
/// and another task must not take an enrollment for an interrupted one.
enum IntentsUnderway {
    private static let ids = Mutex<Set<PrintID>>([])

    static var all: Set<PrintID> { ids.withLock { $0 } }

    static func begin(_ id: PrintID) { ids.withLock { _ = $0.insert(id) } }

    static func end(_ id: PrintID) { ids.withLock { _ = $0.remove(id) } }
}
