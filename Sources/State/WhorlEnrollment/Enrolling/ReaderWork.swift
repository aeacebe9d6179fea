// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlService

extension FingerprintReader {
    /// Waits for a turn at the reader, opens the reader, runs `body`, and closes the reader again, even if the task is
    /// cancelled.
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
                // If closing fails, the reader counts as closed, and the result of `body` is returned. Closing runs in
                // a separate task so that the reader does not see the cancellation. It may use the shared pool, because
                // no caller blocks one of the pool's threads while it waits for an enrollment.
                await Task { () async in try? await close() }.value
                return result
            }
        )
        return try result.get()
    }

    /// Returns the prints that the reader stores, or `nil` if the reader cannot list them.
    func listed(_ info: ReaderInfo) async throws(ServiceError) -> [StoredPrint]? {
        guard info.features.contains(.storageList) else { return nil }
        return try await ofReader(await storedPrints(whenBusy: .wait))
    }

    /// Deletes a print, or returns `false` if the reader does not store it or cannot delete single prints.
    ///
    /// In the latter case the print stays in the reader as a stray that does not match for any profile.
    func deleteIfThere(_ template: Template) async throws(ServiceError) -> Bool {
        do throws(ServiceError) {
            try await ofReader(await delete(template, whenBusy: .wait))
            return true
        } catch  where error.code == .printNotFound || error.code == .readerUnsupported {
            return false
        }
    }

    /// Returns whether one of the templates belongs to the same print.
    func holds(_ template: Template, in templates: [Template]) async -> Bool {
        for other in templates where await isSamePrint(other, template) { return true }
        return false
    }
}
