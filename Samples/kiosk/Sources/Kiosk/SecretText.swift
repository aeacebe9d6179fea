// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Bytes that are overwritten when the last reference to them goes: a typed password, or a message with one in it.
///
/// They are never a `String`, whose copies cannot be counted.
public final class SecretText: @unchecked Sendable {
    // Written by `init` alone, and read afterwards.
    private let bytes: UnsafeMutableRawBufferPointer

    /// Makes room, which a function fills.
    ///
    /// - Parameters:
    ///   - count: The number of bytes.
    ///   - fill: A function that writes all of them.
    public init(count: Int, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        bytes = .allocate(byteCount: max(0, count), alignment: 1)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        fill(bytes)
    }

    /// Copies bytes.
    ///
    /// - Parameter source: The bytes, whose own memory the caller looks after.
    public convenience init(_ source: UnsafeRawBufferPointer) {
        self.init(count: source.count) { $0.copyMemory(from: source) }
    }

    deinit {
        if let base = bytes.baseAddress { explicit_bzero(base, bytes.count) }
        bytes.deallocate()
    }

    /// The number of bytes.
    public var count: Int { bytes.count }

    /// Lends the bytes to a function.
    ///
    /// - Parameter body: The function, which keeps no pointer.
    /// - Returns: The function's result.
    public func read<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(bytes))
    }
}
