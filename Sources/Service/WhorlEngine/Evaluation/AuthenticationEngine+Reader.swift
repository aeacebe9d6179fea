// SPDX-License-Identifier: Apache-2.0

import StateStore
import WhorlFingerprint
import WhorlService
import WhorlSupport

extension AuthenticationEngine {
    /// Waits until no other request with the same tries goes on and for the reader, which an enrollment of this process may
    /// be using, opens the reader, and runs a scan.
    ///
    /// - Parameters:
    ///   - reader: The reader, closed.
    ///   - books: The records of the request, whose tries no other request may use meanwhile.
    ///   - wait: The longest wait for the others, and again for the reader.
    ///   - afterwards: Work after the answer; the next request waits for it.
    ///   - scan: Runs with the reader open. Its argument says whether a touch that comes now was meant for an earlier prompt.
    /// - Returns: What the scan returns. The answer does not wait until the reader is closed; the next work on it does.
    /// - Throws: `readerInUse` after the wait, the reader's errors, and those of the scan.
    func withReader<Value>(
        _ reader: any FingerprintReader,
        _ books: EvaluationBooks,
        within wait: Duration,
        afterwards: @escaping @Sendable () async -> Void = {},
        _ scan: (_ isTooEarly: @escaping @Sendable () -> Bool) async throws(AuthenticationError) -> Value
    ) async throws(AuthenticationError) -> Value {
        let path = EvaluationLock.path(in: books.database.directory, profile: books.profile)
        let lock = try await EvaluationLock.acquire(path, within: wait)
        let turn: ReaderTurn
        do throws(ReaderError) {
            turn = try await ReaderOpening.open(reader, waiting: wait)
        } catch {
            throw AuthenticationError(duringScan: error)
        }
        defer { ReaderClosing.begin(reader, holding: [lock, turn], besides: afterwards) }
        // A script needs no time, and its touches are meant for this prompt.
        let isAfterAnother = turn.hasWaited || lock.hasWaited
        guard isAfterAnother, await reader.info.kind != .mock else { return try await scan { false } }
        let begin = time.now()
        return try await scan { [time] in time.now().certainlyAfter(begin) < TouchSource.reaction }
    }
}
