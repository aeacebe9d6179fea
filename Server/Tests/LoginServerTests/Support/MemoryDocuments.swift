// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

@testable import LoginServer

/// Documents without a store, for tests of what is kept in them.
final class MemoryDocuments: Documents {
    private let documents = Mutex<[String: Data]>([:])

    func document(_ name: String) async throws -> Data? { documents.withLock { $0[name] } }

    func documentNames(withPrefix prefix: String, after name: String, atMost count: Int) async throws
        -> [String]
    {
        documents.withLock { documents in
            Array(documents.keys.filter { $0.hasPrefix(prefix) && $0 > name }.sorted().prefix(count))
        }
    }

    func setDocument(_ name: String, to new: Data?, ifWas old: Data?) async throws -> Bool {
        documents.withLock { documents in
            guard documents[name] == old else { return false }
            documents[name] = new
            return true
        }
    }
}
