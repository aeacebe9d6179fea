// SPDX-License-Identifier: Apache-2.0

package import Crypto

/// A hash function for secret bytes that leaves none of them in freed memory.
///
/// A hash buffers the bytes that do not fill a block yet. The library frees them without wiping: it tries to wipe its
/// state, but uses the size of the type's description instead of the state's (`zeroize()` of swift-crypto 4.5.2).
/// Therefore, a block of zeros here overwrites the bytes that were hashed last, and the inner state from which a code
/// could be continued.
///
/// The hash itself is an ordinary value; the caller wipes it if it is also secret.
package struct SecretHash<Function: HashFunction>: ~Copyable {
    private var function = Function()

    package init() {}

    /// Hashes more bytes, which must not be written during the call.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) { function.update(bufferPointer: bytes) }

    /// Returns the hash of all bytes; this value cannot be used afterwards.
    package mutating func finalize() -> Function.Digest {
        let digest = function.finalize()
        withUnsafeTemporaryAllocation(byteCount: Function.blockByteCount, alignment: 8) { zeros in
            zeros.initializeMemory(as: UInt8.self, repeating: 0)
            function.update(bufferPointer: UnsafeRawBufferPointer(zeros))
        }
        // The library works on a copy on the stack, which this second call overwrites.
        _ = function.finalize()
        return digest
    }

    /// Returns the hash of `bytes`.
    package static func hash(_ bytes: UnsafeRawBufferPointer) -> Function.Digest {
        var hash = SecretHash()
        hash.update(bytes)
        return hash.finalize()
    }
}
