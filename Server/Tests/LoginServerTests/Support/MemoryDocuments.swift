// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

@testable import LoginServer

/// Documents without a store, for tests of what is kept in them.
final class MemoryDocuments: Documents {
    private let documents = Mutex<[String: Data]>([:])

    func document(_ name: String) async throws -> Data? { documents.withLock { $0[name] } }

    func setDocument(_ name: String, to new: Data?, ifWas old: Data?) async throws -> Bool {
        documents.withLock { documents in
            guard documents[name] == old else { return false }
            documents[name] = new
            return true
        }
    }
}
