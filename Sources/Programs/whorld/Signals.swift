// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc

/// The signals that ask the service to end.
enum EndSignals {
    /// Calls `body` at the first SIGTERM or SIGINT; the next one ends the process at once.
    static func onFirst(_ body: @escaping @Sendable () -> Void) {
        for number in [SIGTERM, SIGINT] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                signal(number, SIG_DFL)
                source.cancel()
                body()
            }
            source.activate()
        }
    }
}
