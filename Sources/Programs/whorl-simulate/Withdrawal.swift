// SPDX-License-Identifier: Apache-2.0

import Glibc
import SyntheticFingers
import WhorlSupport

/// Withdraws an unread touch on SIGINT and SIGTERM before the program exits.
///
/// Otherwise, the next scan would read the message. A new connection replaces it.
func withdrawWhenInterrupted(_ reader: VirtualReader) {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGTERM)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    let isWatched = startThread("signals") { [signals] in
        var (waited, signal) = (signals, CInt(0))
        guard sigwait(&waited, &signal) == 0 else { return }
        // The reader may be gone, and the message with it.
        _ = try? VirtualReaderSocket(connectingTo: reader.path, timeout: .zero)
        _exit(11)
    }
    if !isWatched { pthread_sigmask(SIG_UNBLOCK, &signals, nil) }
}
