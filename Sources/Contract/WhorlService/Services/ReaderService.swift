// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// The connected readers.
public protocol ReaderService: Sendable {
    /// Returns all readers that are connected and may be used.
    func readers() async throws(ServiceError) -> [any FingerprintReader]

    /// Returns the chosen reader.
    ///
    /// - Throws: `biometryNotAvailable` when none is connected; `readerNotChosen` when several are connected and none
    ///   is named, or the named one is not among them.
    func chosenReader() async throws(ServiceError) -> any FingerprintReader

    /// The reason why readers cannot be locked for one program of this user at a time; `nil` when each can.
    var readerLockTrouble: ReaderError? { get }

    /// Returns a stream with an event for each reader that comes or goes, until the stream's task ends.
    func readerEvents() async -> AsyncStream<Void>
}
