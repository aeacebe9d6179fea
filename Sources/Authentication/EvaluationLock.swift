// SPDX-License-Identifier: Apache-2.0

import Foundation
package import StateStore

/// An ``EvaluationLock`` that several may hold, until the last one lets go.
package final class SharedEvaluationLock: Sendable {
    private let lock: EvaluationLock

    /// Takes over a lock.
    package init(_ lock: consuming EvaluationLock) { self.lock = lock }
}

/// The right to evaluate a profile: one holder at a time, over all processes that share a state directory.
///
/// It is an advisory lock on a file, which the kernel takes back when its holder dies, however that happens.
/// So whoever holds it knows that a reservation it finds is a dead run's. Each lock opens the file anew; two
/// evaluations in one process exclude each other too.
package struct EvaluationLock: ~Copyable {
    private let descriptor: Int32
    private let process = getpid()

    private init(owning descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        // Unlocked in words: a program that another thread starts has the descriptor until it runs its own code. The
        // child of a fork lets go of nothing that its parent holds.
        if getpid() == process { _ = flock(descriptor, LOCK_UN) }
        close(descriptor)
    }

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

    /// Where the lock file of a profile is.
    package static func path(in directory: StateDirectory, profile: String) -> String {
        directory.file(fileName(profile: profile))
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
            // A cancelled pause ends early; the loop's head then notices.
            _ = await Pause.wait(min(pause, left))
            pause = min(pause * 2, .milliseconds(20))
        }
    }

    /// What keeps a file from being the lock; `nil` when nothing does, and also when there is none yet.
    ///
    /// It takes nothing and makes nothing.
    package static func fault(at path: String) -> AuthenticationError? {
        do throws(StateError) {
            _ = try PrivateFiles.checkFile(path)
            return nil
        } catch {
            return AuthenticationError(error)
        }
    }

    /// One try that never waits; `nil` when somebody holds it.
    private static func attempt(_ path: String) throws(AuthenticationError) -> EvaluationLock? {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw failure(errno, path) }
        let lock = EvaluationLock(owning: descriptor)
        let held = try lock.file(path)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw failure(errno, path) }
            return nil
        }
        // Somebody may have replaced the file between opening and locking: a lock on the old one excludes
        // nobody.
        var present = stat()
        guard lstat(path, &present) == 0, held.st_ino == present.st_ino, held.st_dev == present.st_dev
        else { return nil }
        return lock
    }

    /// The open file, which must be a plain one of this user alone: a directory, a link or a pipe in its place, or a
    /// file that others may lock, would keep evaluations waiting.
    private func file(_ path: String) throws(AuthenticationError) -> stat {
        var held = stat()
        do throws(StateError) {
            guard fstat(descriptor, &held) == 0 else { throw StateError(errno: errno, path: path) }
            try PrivateFiles.checkPlainFile(held, path)
        } catch {
            throw AuthenticationError(error)
        }
        return held
    }

    /// What stands in the file's place, where that is the reason; else the system's own.
    private static func failure(_ code: Int32, _ path: String) -> AuthenticationError {
        fault(at: path) ?? AuthenticationError(StateError(errno: code, path: path))
    }

    /// FNV-1a, 64 bits: it keeps names apart and is no secret.
    private static func fnv1a(_ text: String) -> String {
        let hash = text.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}
