// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The right to evaluate a profile: one holder at a time, over all processes that share a state directory.
///
/// It is an advisory lock on a file, which the kernel takes back when its holder dies, however that happens.
/// So whoever holds it knows that a reservation it finds is a dead run's. Each lock opens the file anew; two
/// evaluations in one process exclude each other too.
package struct EvaluationLock: ~Copyable {
    private let descriptor: Int32

    private init(owning descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// The name of the lock file of a profile: letters, digits, `-`, `_` and `.` as they are, any other byte
    /// as `%` and two hexadecimal digits; a name too long for a file is cut and made unique by its hash.
    package static func fileName(profile: String) -> String {
        let plain = profile.utf8.map { byte -> String in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."):
                String(UnicodeScalar(byte))
            default:
                "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }.joined()
        let name = plain.utf8.count <= 160 ? plain : plain.prefix(120) + "%" + fnv1a(profile)
        return "evaluation-\(name).lock"
    }

    /// Takes the lock as soon as nobody else holds it.
    ///
    /// It waits without holding up a thread, and ends when its task is cancelled.
    ///
    /// - Parameters:
    ///   - path: The lock file; it is made when it is not there, and never removed.
    ///   - limit: The longest wait.
    /// - Returns: The lock, which is held for as long as the value lives.
    /// - Throws: `readerInUse` after `limit`, `appCancel` when the task was cancelled, `storeFailed` when the
    ///   file cannot be used.
    package static func acquire(
        _ path: String,
        within limit: Duration
    ) async throws(AuthenticationError) -> EvaluationLock {
        let deadline = ContinuousClock.now.advanced(by: limit)
        var pause = Duration.milliseconds(1)
        while true {
            guard !Task.isCancelled else { throw AuthenticationError(.appCancel) }
            if let lock = try attempt(path) { return lock }
            let left = deadline - ContinuousClock.now
            guard left > .zero else {
                throw AuthenticationError(.readerInUse, cause: "another evaluation of this profile goes on")
            }
            // A cancelled sleep ends early; the loop's head then notices.
            try? await Task.sleep(for: min(pause, left))
            pause = min(pause * 2, .milliseconds(20))
        }
    }

    /// One try that never waits; `nil` when somebody holds it.
    private static func attempt(_ path: String) throws(AuthenticationError) -> EvaluationLock? {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("open", path) }
        let lock = EvaluationLock(owning: descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw failure("flock", path) }
            return nil
        }
        // Somebody may have replaced the file between opening and locking: a lock on the old one excludes
        // nobody.
        guard lock.isLockOn(path) else { return nil }
        return lock
    }

    private func isLockOn(_ path: String) -> Bool {
        var held = stat()
        var present = stat()
        return fstat(descriptor, &held) == 0 && lstat(path, &present) == 0
            && held.st_ino == present.st_ino && held.st_dev == present.st_dev
    }

    private static func failure(_ call: String, _ path: String) -> AuthenticationError {
        AuthenticationError(.storeFailed, cause: "\(call) \(path): \(String(cString: strerror(errno)))")
    }

    /// FNV-1a, 64 bits: it keeps names apart and is no secret.
    private static func fnv1a(_ text: String) -> String {
        let hash = text.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}
