// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A thread for what waits, so that a test never holds up Swift's thread pool.
struct DetachedThread {
    private let thread: Thread

    init(_ body: @escaping @Sendable () -> Void) { thread = Thread(block: body) }

    func start() { thread.start() }
}
