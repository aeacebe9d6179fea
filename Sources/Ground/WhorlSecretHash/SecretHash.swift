// SPDX-License-Identifier: Apache-2.0

package import Crypto

/// A hash function for secret bytes that does not leave any of them in freed memory.
///
/// A hash function buffers bytes until they fill a block. The library frees this buffer without wiping it: it tries to
/// wipe its state, but uses the size of the type's description instead of the size of the state (`zeroize()` of
/// swift-crypto 4.5.2). This type therefore hashes a block of zeros at the end, which overwrites the last bytes and the
/// inner state from which an authentication code could be continued.
///
/// The hash itself is an ordinary value; the caller wipes it if it is also secret.
package struct SecretHash<Function: HashFunction>: ~Copyable {
    private var function = Function()

    package init() {}

    /// Hashes more bytes, which must not be modified during the call.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) { function.update(bufferPointer: bytes) }

    /// Returns the hash of all bytes; do not use this value afterwards.
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
