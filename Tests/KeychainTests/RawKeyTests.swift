// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeychainServices
import Testing

/// The functions for keys that Apple has deprecated, and programs still call.
@Suite struct `Raw signatures and blocks` {
    private let digest = [UInt8](SHA256.hash(data: Data("pay 5 to Ada".utf8)))

    private func signature(_ key: SecKey, _ padding: SecPadding, room: Int) -> (OSStatus, [UInt8]) {
        var (buffer, size) = ([UInt8](repeating: 0, count: room), room)
        let status = SecKeyRawSign(key, padding, digest, digest.count, &buffer, &size)
        return (status, Array(buffer.prefix(size)))
    }

    @Test(arguments: [("73", 256, SecPadding.PKCS1), ("73", 256, .sigRaw), ("42", 2048, .PKCS1SHA256)])
    func `a signature is right, and another hash's is not`(type: String, bits: Int, padding: SecPadding)
        throws
    {
        let key = try softwareKey(type as NSString, bits)
        let half = try publicKey(key)
        let (status, signature) = signature(key, padding, room: 512)
        #expect(status == errSecSuccess)
        #expect(padding != .sigRaw || signature.count == 64)
        func verify(_ hash: [UInt8]) -> OSStatus {
            SecKeyRawVerify(half, padding, hash, hash.count, signature, signature.count)
        }
        #expect(verify(digest) == errSecSuccess)
        #expect(verify(digest.reversed()) != errSecSuccess)
        #expect(SecKeyRawVerify(half, padding, digest, digest.count, signature, -1) == errSecParam)
    }

    @Test func `a buffer that is too small, and a padding that is not there, leave nothing`() throws {
        let key = try softwareKey(kSecAttrKeyTypeRSA, 2048)
        let (status, signature) = signature(key, .PKCS1SHA256, room: 255)
        #expect(status == errSecParam)
        #expect(signature == [UInt8](repeating: 0, count: 255))
        #expect(self.signature(key, [], room: 512).0 == errSecUnimplemented)
        #expect(self.signature(key, .PKCS1MD5, room: 512).0 == errSecUnimplemented)
    }

    @Test(arguments: [SecPadding.PKCS1, .OAEP]) func `a block comes back`(_ padding: SecPadding) throws {
        let key = try softwareKey(kSecAttrKeyTypeRSA, 2048)
        let text = [UInt8]("hello".utf8)
        var (cipher, cipherSize) = ([UInt8](repeating: 0, count: 256), 256)
        #expect(
            SecKeyEncrypt(try publicKey(key), padding, text, text.count, &cipher, &cipherSize)
                == errSecSuccess
        )
        #expect(cipherSize == 256)
        var (plain, plainSize) = ([UInt8](repeating: 0, count: 256), 256)
        #expect(SecKeyDecrypt(key, padding, cipher, cipherSize, &plain, &plainSize) == errSecSuccess)
        #expect(Array(plain.prefix(plainSize)) == text)
        plainSize = 1
        #expect(SecKeyDecrypt(key, padding, cipher, cipherSize, &plain, &plainSize) == errSecParam)
    }

    @Test func `a process has no entitlement`() throws {
        let task = try #require(SecTaskCreateFromSelf(kCFAllocatorDefault))
        let name = "keychain-access-groups" as CFString
        #expect(SecTaskCopyValueForEntitlement(task, name, nil) == nil)
        #expect(CFGetTypeID(task) == SecTaskGetTypeID())
    }
}
