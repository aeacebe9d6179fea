// SPDX-License-Identifier: Apache-2.0

/// A random number generator.
///
/// There is only one generator.
public typealias SecRandomRef = OpaquePointer

/// The default random number generator.
///
/// The constant is `nonisolated(unsafe)` because it is always `nil` and never dereferenced.
nonisolated(unsafe) public let kSecRandomDefault: SecRandomRef? = nil

/// Generates random bytes with getrandom(2), suitable for keys.
///
/// - Parameters:
///   - rnd: ``kSecRandomDefault``.
///   - count: The number of bytes.
///   - bytes: A buffer of at least `count` bytes.
/// - Returns: `errSecSuccess`, or `errSecParam` for any other generator or a negative count.
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
