// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import StateStore

/// The right to change what the chip and the database hold together: one holder at a time, over all processes that
/// share a state directory.
///
/// It is an advisory lock on the file `vault.lock`, which the kernel takes back when its holder dies.
final class VaultLock: Sendable {
    private let descriptor: Int32

    private init(owning descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Lets go at the end of a scope; without this call the lock would end where the optimiser sees the last use.
    func release() { _ = flock(descriptor, LOCK_UN) }

    /// How often it is looked whether another holder has let go: for a minute or longer, as a chip may take seconds for one
    /// command.
    ///
    /// Looks are counted and not time, so that on a busy machine, where this task hardly runs, nobody is refused for it.
    private static let patience = 3000

    /// Takes the lock as soon as nobody else holds it, without holding up a thread.
    ///
    /// It is not cancelled with its task: what has begun with the chip and the database is brought to an end.
    ///
    /// - Throws: `store` with `busy` when somebody holds it for a minute, or with what opening the file gives.
    static func acquire(_ directory: StateDirectory) async throws(VaultError) -> VaultLock {
        let path = directory.file("vault.lock")
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw VaultError(.store(StateError(errno: errno, path: path)), path) }
        let lock = VaultLock(owning: descriptor)
        var pause = 1
        var looks = 0
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            looks += 1
            guard errno == EWOULDBLOCK || errno == EINTR, looks < patience else {
                throw VaultError(.store(StateError(.busy, path: path)), path)
            }
            await wait(milliseconds: pause)
            pause = min(pause * 2, 20)
        }
        return lock
    }

    // A serial queue gets a thread even when every thread of Swift's shared pool waits, in calls that block for what the
    // lock is needed for. `Task.sleep` needs one of them to wake up, and ends with its task.
    private static let clock = DispatchQueue(label: "whorl.vault-lock")

    private static func wait(milliseconds: Int) async {
        await withCheckedContinuation { woken in
            clock.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { woken.resume() }
        }
    }
}
