// SPDX-License-Identifier: Apache-2.0

/// A random number generator.
///
/// Only one exists.
public typealias SecRandomRef = OpaquePointer

/// The default random number generator.
///
/// It is always `nil` and never dereferenced: hence `nonisolated(unsafe)`.
nonisolated(unsafe) public let kSecRandomDefault: SecRandomRef? = nil

/// Generates random bytes with getrandom(2), suitable for keys.
///
/// - Parameters:
///   - rnd: ``kSecRandomDefault``.
///   - count: The number of bytes.
///   - bytes: A buffer of at least `count` bytes.
/// - Returns: `errSecSuccess`; `errSecParam` for another generator or a negative count.
public func SecRandomCopyBytes(
    _ rnd: SecRandomRef?,
    _ count: Int,
    _ bytes: UnsafeMutableRawPointer
) -> Int32 {
    guard rnd == kSecRandomDefault, count >= 0 else { return errSecParam }
    var generator = SystemRandomNumberGenerator()
    let room = UnsafeMutableRawBufferPointer(start: bytes, count: count)
    for start in stride(from: 0, to: count, by: 8) {
        withUnsafeBytes(of: generator.next()) { drawn in
            UnsafeMutableRawBufferPointer(rebasing: room[start..<min(start + 8, count)])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: drawn.prefix(count - start)))
        }
    }
    return errSecSuccess
}
