// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory

/// 32 random bytes that stand nowhere in the process as they are, and a search for them.
struct Needle: Sendable {
    private static let mask: UInt8 = 0xA5
    private let masked: [UInt8]

    init() { masked = (0..<32).map { _ in UInt8.random(in: 0...255) } }

    func secret() -> SecretBytes {
        SecretBytes(count: masked.count) { room in
            for (place, byte) in masked.enumerated() { room[place] = byte ^ Self.mask }
        }
    }

    /// Whether the bytes stand in any memory of this process that can be written, but for the search's own.
    func isInMemory() throws -> Bool { try ProcessMemory.count(of: secret(), in: .everything) > 0 }
}
