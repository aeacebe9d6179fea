// SPDX-License-Identifier: Apache-2.0

package import WhorlStateStore
package import WhorlService
package import WhorlSupport

/// The lock for evaluating a profile, which has one holder at a time across all processes that share a state directory.
///
/// The kernel releases the lock when the process that holds it terminates. So if a holder finds a reservation, the
/// process that made it must have terminated.
package enum EvaluationLock {
    /// Returns the name of a profile's lock file.
    ///
    /// Letters, digits, `-`, `_` and `.` are kept, and every other byte becomes `%` and two hexadecimal digits. A name
    /// that is too long for a file is truncated and made unique by its hash.
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

    /// Returns the path of a profile's lock file.
    package static func path(in directory: StateDirectory, profile: String) -> String {
        directory.file(fileName(profile: profile))
    }

    /// Acquires the lock as soon as it is free, without blocking a thread.
    ///
    /// - Parameters:
    ///   - path: The path of the lock file.
    ///   - limit: The maximum time to wait.
    /// - Returns: The lock, which is held until it is released.
    /// - Throws: `readerInUse` after `limit`, `appCancel` if the task was cancelled, `storeFailed` if the file cannot
    ///   be used.
    package static func acquire(
        _ path: String,
        within limit: Duration
    ) async throws(ServiceError) -> FileLock {
        do throws(FileLockError) {
            return try await FileLock.acquire(path, within: limit)
        } catch {
            switch error {
            case .held:
                throw ServiceError(.readerInUse, cause: "another evaluation of this profile is running")
            case .cancelled: throw ServiceError(.appCancel)
            case .unusable, .system: throw ServiceError(error, path: path)
            }
        }
    }

    /// Returns the reason why a file cannot be used as the lock; `nil` if it can be used or does not exist yet.
    ///
    /// It does not acquire the lock or create the file.
    package static func fault(at path: String) -> ServiceError? {
        FileLock.fault(at: path).map { ServiceError(file: $0, path: path) }
    }

    /// Returns a 64-bit FNV-1a hash, which distinguishes names and is not secret.
    private static func fnv1a(_ text: String) -> String {
        let hash = text.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}
