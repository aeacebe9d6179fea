// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A generator of random bytes; there is one.
public typealias SecRandomRef = OpaquePointer

/// The one generator.
///
/// It is no address, so nobody can use one: hence `nonisolated(unsafe)`.
nonisolated(unsafe) public let kSecRandomDefault: SecRandomRef? = nil

/// Writes random bytes of the kernel's generator (getrandom(2)), fit for keys.
///
/// - Parameters:
///   - rnd: ``kSecRandomDefault``.
///   - count: How many bytes.
///   - bytes: Where they go; there must be room for them.
/// - Returns: `errSecSuccess`; `errSecParam` for another generator or a negative count; `errSecAllocate` where the kernel gives
///   none, and then what was written is no key.
public func SecRandomCopyBytes(_ rnd: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32
{
    guard rnd == kSecRandomDefault, count >= 0 else { return errSecParam }
    var done = 0
    while done < count {
        // `getentropy(3)` is glibc's door to getrandom(2) that Swift's static library shows too; 256 bytes are its most.
        let part = min(count - done, 256)
        guard getentropy(bytes + done, part) == 0 else { return errSecAllocate }
        done += part
    }
    return errSecSuccess
}
