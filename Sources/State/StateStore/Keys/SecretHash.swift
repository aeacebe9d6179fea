// SPDX-License-Identifier: Apache-2.0

package import Crypto

/// A hash of secret bytes, of which nothing stays in freed memory.
///
/// A hash keeps the bytes that do not fill a block yet. The library frees them as they are: it means to wipe its state,
/// but counts the size of the type's description instead of the state's (`zeroize()` of swift-crypto 4.5.2). So here a
/// block of zeros takes the place of what was hashed last, and of the inner state from which a code could be continued.
///
/// The hash itself is an ordinary value, which a caller wipes where it is a secret too.
package struct SecretHash<Function: HashFunction>: ~Copyable {
    private var function = Function()

    package init() {}

    /// Hashes more bytes, which must not overlap with what others write.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) { function.update(bufferPointer: bytes) }

    /// The hash of all bytes, once: afterwards this value is of no use.
    package mutating func finalize() -> Function.Digest {
        let digest = function.finalize()
        withUnsafeTemporaryAllocation(byteCount: Function.blockByteCount, alignment: 8) { zeros in
            zeros.initializeMemory(as: UInt8.self, repeating: 0)
            function.update(bufferPointer: UnsafeRawBufferPointer(zeros))
        }
        // The library works on a copy on the stack: another one takes its place.
        _ = function.finalize()
        return digest
    }

    /// The hash of `bytes`.
    package static func hash(_ bytes: UnsafeRawBufferPointer) -> Function.Digest {
        var hash = SecretHash()
        hash.update(bytes)
        return hash.finalize()
    }
}
