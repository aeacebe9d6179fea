// SPDX-License-Identifier: Apache-2.0

package import Foundation
internal import Glibc
internal import Synchronization

/// One program is started at a time, so that none gets what Foundation opens for another one.
private let starting = Mutex(())

extension Process {
    /// Starts the program while no other test starts one.
    package func start() throws { try starting.withLock { _ in try run() } }

    /// Waits until the program has ended, and returns its exit status, or the negative number of its signal.
    ///
    /// Foundation's `waitUntilExit()` waits for the end of a socket, which another program that was started at the same
    /// moment keeps open: where that program waits for a thread of the pool, and the pool's threads wait here, none goes on.
    @discardableResult
    package func waitForEnd() -> CInt {
        var info = siginfo_t()
        while waitid(P_PID, id_t(processIdentifier), &info, WEXITED | WNOWAIT) != 0 {
            guard errno == EINTR else {
                // Foundation was faster, and has taken its status.
                waitUntilExit()
                return terminationReason == .exit ? terminationStatus : -terminationStatus
            }
        }
        let status = info._sifields._sigchld.si_status
        return info.si_code == CLD_EXITED ? status : -status
    }
}
