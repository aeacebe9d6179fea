// SPDX-License-Identifier: Apache-2.0

/// A fingerprint reader.
///
/// Cancelling the task of a waiting operation makes it throw ``ReaderError/Code/cancelled``; the reader can be used
/// again immediately. A reader runs one operation at a time. A second one waits or fails with
/// ``ReaderError/Code/busy``, depending on the caller's ``BusyPolicy``.
///
/// A reader knows nothing about users, policies or attempts. `noMatch` is an ordinary result.
public protocol FingerprintReader: AnyObject, Sendable {
    /// A description of the reader. Some drivers know their features and stages only while open.
    var info: ReaderInfo { get async }

    /// Opens the reader. Opening an open reader does nothing.
    ///
    /// - Throws: `inUse`, `permissionDenied`, `unplugged`, `malfunction`.
    func open() async throws(ReaderError)

    /// Closes the reader after the running operation has ended. Closing a closed reader does nothing.
    ///
    /// - Throws: `malfunction`; the reader is considered closed even then.
    func close() async throws(ReaderError)

    /// Creates a template from ``ReaderInfo/enrollStages`` good presentations.
    ///
    /// It compares neither the presentations with each other nor the finger with others. A match-on-chip reader has
    /// stored the template when this returns.
    ///
    /// - Throws: The usual errors, and `storageFull`, `duplicate`. After an error the reader keeps nothing of the
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

    /// Compares one presentation with a gallery, in the gallery's order.
    ///
    /// A match is always an entry of `gallery`. If the reader returns any other print, the operation fails with
    /// ``ReaderError/Code/untrustworthy``.
    func identify(
        among gallery: [GalleryEntry],
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> IdentifyResult

    /// Captures one image of a finger, as soon as one touches the sensor.
    func capture(whenBusy: BusyPolicy, observer: @escaping ScanObserver) async throws(ReaderError)
        -> FingerprintImage

    /// Returns the templates stored in the reader, including those of other systems.
    func storedPrints(whenBusy: BusyPolicy) async throws(ReaderError) -> [StoredPrint]

    /// Deletes one template from the reader's storage.
    ///
    /// - Throws: `printNotFound` if it does not exist.
    func delete(_ template: Template, whenBusy: BusyPolicy) async throws(ReaderError)

    /// Deletes every template in the reader, including those of other systems.
    func clearStorage(whenBusy: BusyPolicy) async throws(ReaderError)

    /// Prepares the reader for system sleep.
    ///
    /// An operation that waits for a finger fails with `suspended` and never matches; other operations finish first.
    /// Until ``resume()``, new operations fail with `suspended`. Closing the reader still works.
    func suspend() async throws(ReaderError)

    /// Wakes the reader after system sleep.
    func resume() async throws(ReaderError)

    /// Whether the reader is currently waiting for a finger, or has one on the sensor.
    var fingerStatus: FingerStatus { get async }

    /// The current temperature class of the reader.
    var temperature: ReaderTemperature { get async }

    /// Returns whether two templates are the same; their bytes may differ in parts that the reader's listing omits.
    func isSamePrint(_ first: Template, _ second: Template) async -> Bool
}

/// The behavior of an operation while another one runs on the reader.
public enum BusyPolicy: Sendable {
    /// Waits its turn; first come, first served.
    case wait
    /// Fails immediately with ``ReaderError/Code/busy``.
    case fail
}

/// A source of readers.
public protocol ReaderSource: Sendable {
    /// Returns the currently connected readers. The same reader is always returned as the same object.
    ///
    /// - Throws: `malfunction` if the system cannot be queried; an empty list is not an error.
    func readers() async throws(ReaderError) -> [any FingerprintReader]

    /// Returns the readers added and removed from now on, in order, until the stream's task ends.
    func changes() async -> AsyncStream<ReaderChange>
}

/// A change of the connected readers.
public enum ReaderChange: Sendable, Hashable {
    /// A reader was plugged in.
    case added(ReaderInfo)
    /// A reader was unplugged.
    case removed(ReaderID)
}
