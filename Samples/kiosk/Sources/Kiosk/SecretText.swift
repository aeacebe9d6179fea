// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Bytes that are overwritten when they are released: a typed password, or a message that contains one.
///
/// They are never stored as a `String`, whose copies cannot be controlled.
public final class SecretText: @unchecked Sendable {
    // Written only by `init`, and read afterwards.
    private let bytes: UnsafeMutableRawBufferPointer

    /// Allocates memory, which a function fills.
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
    /// - Parameter source: The bytes, whose memory the caller manages.
    public convenience init(_ source: UnsafeRawBufferPointer) {
        self.init(count: source.count) { $0.copyMemory(from: source) }
    }

    deinit {
        if let base = bytes.baseAddress { explicit_bzero(base, bytes.count) }
        bytes.deallocate()
    }

    /// The number of bytes.
    public var count: Int { bytes.count }

    /// Calls a function with the bytes.
    ///
    /// - Parameter body: The function, which must not store the pointer.
    /// - Returns: The function's result.
    public func read<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(bytes))
    }
}
