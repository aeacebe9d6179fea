// SPDX-License-Identifier: Apache-2.0

import CryptoExtras
import Foundation
import WhorlSecretMemory
import Testing

@testable import WhorlVault
import WhorlService

/// How a passcode becomes what the chip compares.
struct PasscodeDerivationTests {
    @Test func `the derivation is scrypt with N = 2^cost, r = 8, p = 1, and never ends with a zero`()
        async throws
    {
        let derivation = try #require(PasscodeDerivation(encoded: Data([1, 14]) + Data(0..<16)))
        let made = try await derivation.authorization(of: secret("correct horse"))
        let expected = try KDF.Scrypt.deriveKey(
            from: Data("correct horse".utf8),
            salt: Data(0..<16),
            outputByteCount: 32,
            rounds: 16384,
            blockSize: 8,
            parallelism: 1
        )
        var bytes = expected.withUnsafeBytes { Data($0) }
        bytes[31] |= 1
        #expect(data(made) == bytes)
    }

    @Test func `another salt or another passcode gives another value`() async throws {
        let one = PasscodeDerivation(cost: 14)
        let other = PasscodeDerivation(cost: 14)
        #expect(one.salt != other.salt)
        let first = try await one.authorization(of: secret("1234"))
        #expect(try await data(one.authorization(of: secret("1234"))) == data(first))
        #expect(try await data(other.authorization(of: secret("1234"))) != data(first))
        #expect(try await data(one.authorization(of: secret("1235"))) != data(first))
    }

    @Test(arguments: [0, 3, 1025, 1 << 20])
    func `a passcode of a size that none has is refused`(count: Int) async {
        await #expect(throws: ServiceError.self) {
            try await PasscodeDerivation(cost: 14).authorization(
                of: secret(String(repeating: "x", count: count))
            )
        }
    }

    @Test func `stored parameters that would be cheap, ruinous or unknown are refused`() {
        let good = PasscodeDerivation(cost: 14).encoded
        #expect(PasscodeDerivation(encoded: good) != nil)
        for cost in [0, 1, 13, 19, 31, 63, 255] as [UInt8] {
            var bad = good
            bad[1] = cost
            #expect(PasscodeDerivation(encoded: bad) == nil, "cost \(cost)")
        }
        var version = good
        version[0] = 2
        #expect(PasscodeDerivation(encoded: version) == nil)
        for length in 0..<good.count { #expect(PasscodeDerivation(encoded: good.prefix(length)) == nil) }
        #expect(PasscodeDerivation(encoded: good + [0]) == nil)
    }

    @Test func `a derivation at the standard cost takes at least 20 ms`() async throws {
        let derivation = PasscodeDerivation()
        #expect(derivation.cost == PasscodeDerivation.standardCost)
        let start = ContinuousClock.now
        _ = try await derivation.authorization(of: secret("123456"))
        let duration = ContinuousClock.now - start
        #expect(duration > .milliseconds(20), "\(duration)")
    }

    @Test func `derivations leave the shared pool's threads to others`() async {
        // A process of its own, since other tests need the pool.
        await #expect(processExitsWith: .success) {
            // If they took those threads, the other would never be first; if not, it may come late on a busy machine.
            for _ in 0..<20 where await Self.firstToEnd() == "other" { exit(EXIT_SUCCESS) }
            exit(EXIT_FAILURE)
        }
    }

    /// What ends first: one of more derivations than the pool has threads, or a task behind them that takes no time.
    private static func firstToEnd() async -> String? {
        await withTaskGroup(of: String.self) { group in
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount * 4 {
                group.addTask {
                    _ = try? await PasscodeDerivation().authorization(of: secret("1234"))
                    return "derivation"
                }
            }
            group.addTask { "other" }
            return await group.next()
        }
    }

    @Test func `an authorization value never ends with a zero`() {
        for last in 0...255 as ClosedRange<UInt8> {
            let bytes = [UInt8](repeating: 7, count: 31) + [last]
            let made = bytes.withUnsafeBytes { SecretBox(SecretBytes(authorization: $0)) }
            #expect(data(made).last == last | 1)
        }
    }
}
