// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainServices
import Testing

@Suite struct `Random bytes` {
    @Test func `fill what they are given, no more and no less, and are others each time`() {
        for count in [0, 1, 32, 300, 70_000] {
            var (first, second) = (
                [UInt8](repeating: 0, count: count + 1), [UInt8](repeating: 0, count: count + 1)
            )
            #expect(SecRandomCopyBytes(kSecRandomDefault, count, &first) == errSecSuccess)
            #expect(SecRandomCopyBytes(kSecRandomDefault, count, &second) == errSecSuccess)
            #expect(first.last == 0 && second.last == 0)
            if count >= 32 {
                #expect(first != second)
                // Of 32 random bytes at the end not all are 0.
                #expect(first.dropLast().suffix(32).contains { $0 != 0 })
            }
        }
    }

    @Test func `are not given by another generator, nor less than none of them`() {
        var bytes: [UInt8] = [7]
        #expect(SecRandomCopyBytes(kSecRandomDefault, -1, &bytes) == errSecParam)
        #expect(SecRandomCopyBytes(OpaquePointer(bitPattern: 16), 1, &bytes) == errSecParam)
        #expect(bytes == [7])
    }
}
