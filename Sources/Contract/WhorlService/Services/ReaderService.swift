// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// The connected readers.
public protocol ReaderService: Sendable {
    /// Returns all connected readers that may be used.
    func readers() async throws(ServiceError) -> [any FingerprintReader]

    /// Returns the chosen reader.
    ///
    /// - Throws: `biometryNotAvailable` if no reader is connected; `readerNotChosen` if several readers are connected
    ///   and none of them was chosen, or if the chosen one is not connected.
    func chosenReader() async throws(ServiceError) -> any FingerprintReader

    /// The reason why a reader cannot be reserved for one of this user's programs at a time; `nil` if it can.
    var readerLockTrouble: ReaderError? { get }

    /// Returns a stream with an event each time a reader is connected or disconnected, until the stream's task ends.
    func readerEvents() async -> AsyncStream<Void>
}
