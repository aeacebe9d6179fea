// SPDX-License-Identifier: Apache-2.0

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
