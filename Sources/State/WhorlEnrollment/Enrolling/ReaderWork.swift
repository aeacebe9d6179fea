// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlService

extension FingerprintReader {
    /// Waits for the reader's turn, opens it, runs `body`, and closes it again, also when the task is cancelled
    /// during `body`.
    func whileOpen<Value: Sendable>(
        _ work: String,
        _ body: (ReaderInfo) async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        let result = try await ofReader(
            await ReaderTurns.run(work, on: self) { () async throws(ReaderError) in
                try await open()
                let result: Result<Value, ServiceError>
                do throws(ServiceError) {
                    result = .success(try await body(await info))
                } catch {
                    result = .failure(error)
                }
                // A reader whose closing failed counts as closed; the result of `body` is returned. Closing runs in a
                // task of its own, so that no reader sees the cancellation; it may use the shared pool, since no caller
                // blocks one of the pool's threads to wait for an enrollment.
                await Task { () async in try? await close() }.value
                return result
            }
        )
        return try result.get()
    }

    /// Lists the prints that the reader keeps; `nil` when the reader cannot list them.
    func listed(_ info: ReaderInfo) async throws(ServiceError) -> [StoredPrint]? {
        guard info.features.contains(.storageList) else { return nil }
        return try await ofReader(await storedPrints(whenBusy: .wait))
    }

    /// Deletes a print; `false` when the reader does not keep it, or cannot delete single prints: then it stays in the
    /// reader as a stray that matches for no profile.
    func deleteIfThere(_ template: Template) async throws(ServiceError) -> Bool {
        do throws(ServiceError) {
            try await ofReader(await delete(template, whenBusy: .wait))
            return true
        } catch  where error.code == .printNotFound || error.code == .readerUnsupported {
            return false
        }
    }

    /// Whether one of the templates belongs to the same print.
    func holds(_ template: Template, in templates: [Template]) async -> Bool {
        for other in templates where await isSamePrint(other, template) { return true }
        return false
    }
}
