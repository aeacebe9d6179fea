// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WhorlService

/// The encoding of an SSH key's rules in its row, as JSON.
extension SSHKeyRules {
    /// The maximum number of bytes.
    private static let longest = 1 << 20

    /// Returns the encoded rules; `nil` if they are those of a new key.
    ///
    /// - Throws: `storeFailed` if they cannot be encoded, so that a failure never removes the limits of a key.
    func encoded() throws(ServiceError) -> Data? {
        guard self != .standard else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        do { return try encoder.encode(self) } catch { throw ServiceError(.storeFailed, cause: "\(error)") }
    }

    /// Decodes rules; returns `nil` for anything else.
    init?(encoded: Data) {
        guard encoded.count <= Self.longest else { return nil }
        // The caller reports the item as tampered with; the fault's place in the JSON would not help the user.
        guard let rules = try? JSONDecoder().decode(SSHKeyRules.self, from: encoded) else { return nil }
        self = rules
    }
}
