// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

// The templates that a mock keeps in itself, with `storage=reader`.
extension MockReader {
    /// The prints that the mock keeps, in the order of their enrollment.
    public func storedPrints(whenBusy: BusyPolicy) async throws(ReaderError) -> [StoredPrint] {
        try await operate("list", needing: .storageList, whenBusy: whenBusy) { () throws(ReaderError) in
            try withStorage { storage throws(ReaderError) in
                try storage.refresh("list")
                return storage.records.map {
                    StoredPrint(template: $0.print.plain.template, metadata: $0.metadata)
                }
            }
        }
    }

    /// Deletes one print.
    public func delete(_ template: Template, whenBusy: BusyPolicy) async throws(ReaderError) {
        try await operate("delete", needing: .storageDelete, whenBusy: whenBusy) { () throws(ReaderError) in
            guard let print = MockPrint(template) else {
                throw ReaderError(.templateInvalid, operation: "delete", cause: "not a mock's template")
            }
            try withStorage { storage throws(ReaderError) in
                try storage.refresh("delete")
                guard storage.contains(print) else { throw ReaderError(.printNotFound, operation: "delete") }
                try storage.change("delete") { $0.removeAll { $0.print.isSame(as: print) } }
            }
        }
    }

    /// Deletes every print.
    public func clearStorage(whenBusy: BusyPolicy) async throws(ReaderError) {
        try await operate("clear", needing: .storageClear, whenBusy: whenBusy) { () throws(ReaderError) in
            try withStorage { storage throws(ReaderError) in
                try storage.refresh("clear")
                try storage.change("clear") { $0.removeAll() }
            }
        }
    }
}
