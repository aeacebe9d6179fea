// SPDX-License-Identifier: Apache-2.0

/// A fingerprint reader.
///
/// If the task of a waiting operation is cancelled, the operation throws ``ReaderError/Code/cancelled`` and the reader
/// can be used again immediately. A reader runs one operation at a time. A second operation waits or fails with
/// ``ReaderError/Code/busy``, depending on the caller's ``BusyPolicy``.
///
/// A reader knows nothing about users, policies or attempts. To a reader, `noMatch` is an ordinary result.
public protocol FingerprintReader: AnyObject, Sendable {
    /// A description of the reader. Some drivers know their features and stages only while the reader is open.
    var info: ReaderInfo { get async }

    /// Opens the reader. Opening an open reader does nothing.
    ///
    /// - Throws: `inUse`, `permissionDenied`, `unplugged`, `malfunction`.
    func open() async throws(ReaderError)

    /// Closes the reader after the operation in progress has ended. Closing a closed reader does nothing.
    ///
    /// - Throws: `malfunction`. The reader is considered closed even then.
    func close() async throws(ReaderError)

    /// Creates a template from ``ReaderInfo/enrollStages`` good presentations.
    ///
    /// The presentations are not compared with each other, nor the finger with other fingers. A match-on-chip reader
    /// has stored the template by the time this returns.
    ///
    /// - Throws: The usual errors, `storageFull` and `duplicate`. After an error the reader stores nothing from the
    ///   attempt, as far as its driver can tell.
    func enroll(
        _ metadata: EnrollmentMetadata,
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> Template

    /// Compares one presentation with one template.
    func verify(
        _ template: Template,
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> VerifyResult

    /// Compares one presentation with the entries of a gallery, in order.
    ///
    /// A match is always an entry of `gallery`. If the reader returns any other print, the operation fails with
    /// ``ReaderError/Code/untrustworthy``.
    func identify(
        among gallery: [GalleryEntry],
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> IdentifyResult

    /// Captures one image of a finger as soon as it touches the sensor.
    func capture(whenBusy: BusyPolicy, observer: @escaping ScanObserver) async throws(ReaderError)
        -> FingerprintImage

    /// Returns all templates stored in the reader, including those from other systems.
    func storedPrints(whenBusy: BusyPolicy) async throws(ReaderError) -> [StoredPrint]

    /// Deletes one template from the reader's storage.
    ///
    /// - Throws: `printNotFound` if the reader does not contain the template.
    func delete(_ template: Template, whenBusy: BusyPolicy) async throws(ReaderError)

    /// Deletes all templates in the reader, including those from other systems.
    func clearStorage(whenBusy: BusyPolicy) async throws(ReaderError)

    /// Prepares the reader for system sleep.
    ///
    /// An operation that is waiting for a finger fails with `suspended` and never matches. Other operations finish
    /// first. New operations fail with `suspended` until ``resume()`` is called, but the reader can still be closed.
    func suspend() async throws(ReaderError)

    /// Wakes the reader after system sleep.
    func resume() async throws(ReaderError)

    /// Whether the reader is currently waiting for a finger, or has one on the sensor.
    var fingerStatus: FingerStatus { get async }

    /// The reader's current temperature class.
    var temperature: ReaderTemperature { get async }

    /// Returns whether two templates are the same print. Their bytes may differ in parts that the reader's listing
    /// omits.
    func isSamePrint(_ first: Template, _ second: Template) async -> Bool
}

/// The behavior of an operation when another one is in progress on the reader.
public enum BusyPolicy: Sendable {
    /// Waits its turn, first come, first served.
    case wait
    /// Fails immediately with ``ReaderError/Code/busy``.
    case fail
}

/// A source of readers.
public protocol ReaderSource: Sendable {
    /// Returns the readers that are currently connected. The same reader is always returned as the same object.
    ///
    /// - Throws: `malfunction` if the system cannot be queried. An empty list is not an error.
    func readers() async throws(ReaderError) -> [any FingerprintReader]

    /// Returns a stream of the readers that are added and removed from now on, in order, until the stream's task ends.
    func changes() async -> AsyncStream<ReaderChange>
}

/// A change in the set of connected readers.
public enum ReaderChange: Sendable, Hashable {
    /// A reader was plugged in.
    case added(ReaderInfo)
    /// A reader was unplugged.
    case removed(ReaderID)
}
