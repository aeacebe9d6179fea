// SPDX-License-Identifier: Apache-2.0

import Fingerprint

extension FingerprintReader {
    /// Waits for the reader's turn, opens it, runs `body`, and closes it again, also when the task is cancelled
    /// meanwhile.
    func whileOpen<Value: Sendable>(
        _ work: String,
        _ body: (ReaderInfo) async throws(EnrollmentError) -> Value
    ) async throws(EnrollmentError) -> Value {
        let result = try await translated { () throws(ReaderError) in
            try await ReaderTurns.run(work, on: self) { () async throws(ReaderError) in
                try await open()
                let result: Result<Value, EnrollmentError>
                do throws(EnrollmentError) {
                    result = .success(try await body(await info))
                } catch {
                    result = .failure(error)
                }
                // A reader whose closing failed counts as closed; what happened before is the answer. In a task of its own, so
                // that no reader sees the cancellation; on the shared pool, which nobody blocks to wait for an enrollment.
                await Task { () async in try? await close() }.value
                return result
            }
        }
        return try result.get()
    }

    /// What the reader keeps; `nil` when it cannot list.
    func listed(_ info: ReaderInfo) async throws(EnrollmentError) -> [StoredPrint]? {
        guard info.features.contains(.storageList) else { return nil }
        return try await translated { () throws(ReaderError) in try await storedPrints(whenBusy: .wait) }
    }

    /// Deletes a print; `false` when the reader does not keep it, or cannot delete single prints: there it stays, as a
    /// stray that matches for nobody.
    func deleteIfThere(_ template: Template) async throws(EnrollmentError) -> Bool {
        do {
            try await delete(template, whenBusy: .wait)
            return true
        } catch  where error.code == .printNotFound || error.code == .unsupported {
            return false
        } catch {
            throw EnrollmentError(.reader(error))
        }
    }

    /// Whether one of the templates is the same print.
    func holds(_ template: Template, in templates: [Template]) async -> Bool {
        for other in templates where await isSamePrint(other, template) { return true }
        return false
    }

    private func translated<Value: Sendable>(
        _ body: () async throws(ReaderError) -> Value
    ) async throws(EnrollmentError) -> Value {
        do {
            return try await body()
        } catch {
            throw EnrollmentError(.reader(error))
        }
    }
}
