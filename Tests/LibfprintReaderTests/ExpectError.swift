// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Testing

/// Expects that `body` throws a ``ReaderError`` of this kind.
///
/// - Returns: The error, for more to be expected of it.
@discardableResult
func expectError(
    _ code: ReaderError.Code,
    _ comment: Comment? = nil,
    at location: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async -> ReaderError? {
    do {
        try await body()
        Issue.record(comment ?? "expected \(code), but nothing was thrown", sourceLocation: location)
        return nil
    } catch {
        #expect((error as? ReaderError)?.code == code, comment, sourceLocation: location)
        return error as? ReaderError
    }
}
