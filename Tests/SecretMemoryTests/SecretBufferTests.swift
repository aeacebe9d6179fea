// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import Testing

@Suite struct `Room for a secret` {
    private func bytes(_ buffer: borrowing SecretBuffer) -> [UInt8] {
        buffer.withBytes { span in span.withUnsafeBytes { Array($0) } }
    }

    @Test func `takes bytes up to its capacity, and refuses the next one`() {
        var buffer = SecretBuffer(capacity: 3)
        for byte in [UInt8(1), 2, 3] {
            let fits = buffer.append(byte)
            #expect(fits)
        }
        let fits = buffer.append(4)
        #expect(!fits)
        #expect(bytes(buffer) == [1, 2, 3])
    }

    @Test func `gives its bytes away once, and is empty afterwards`() {
        var buffer = SecretBuffer(capacity: 8)
        _ = buffer.append(7)
        let secret = buffer.take()
        #expect(secret.withUnsafeBytes { Array($0) } == [7])
        #expect(buffer.count == 0)
        #expect(buffer.take().count == 0)
    }

    @Test func `overwrites what is taken away`() {
        var buffer = SecretBuffer(capacity: 4)
        for byte in [UInt8(1), 2, 3, 4] { _ = buffer.append(byte) }
        buffer.removeLast(2)
        #expect(bytes(buffer) == [1, 2])
        // The free room is where the bytes were.
        let got = buffer.append { room in
            #expect(Array(room) == [0, 0])
            return 2
        }
        #expect(got == 2 && buffer.count == 4)
        buffer.removeLast(99)
        #expect(buffer.count == 0)
        _ = buffer.append { room in
            #expect(Array(room) == [0, 0, 0, 0])
            return 0
        }
    }

    @Test(arguments: [-1, 5, .max])
    func `takes no number of bytes that no write can have`(_ claimed: Int) {
        var buffer = SecretBuffer(capacity: 4)
        let got = buffer.append { _ in claimed }
        #expect(got == claimed)
        #expect(buffer.count == 0)
    }
}
