// SPDX-License-Identifier: Apache-2.0

/// One fingerprint reader.
///
/// Every operation that waits can be cancelled by cancelling its task; it then throws
/// ``ReaderError/Code/cancelled``, and the reader is usable at once. A reader does one operation at a time: a
/// second one waits or fails with ``ReaderError/Code/busy``, as its caller chose with ``BusyPolicy``.
///
/// A reader knows nothing of users, policies or attempts. `noMatch` is an ordinary result here.
public protocol FingerprintReader: AnyObject, Sendable {
    /// A description of the reader. Some drivers know their features and stages only once they are open.
    var info: ReaderInfo { get async }

    /// Makes the reader ready. Opening an open reader does nothing.
    ///
    /// - Throws: `inUse`, `permissionDenied`, `unplugged`, `malfunction`.
    func open() async throws(ReaderError)

    /// Lets the reader go, after the running operation has ended. Closing a closed reader does nothing.
    ///
    /// - Throws: `malfunction`; the reader counts as closed even then.
    func close() async throws(ReaderError)

    /// Makes a template from ``ReaderInfo/enrollStages`` good presentations.
    ///
    /// It compares neither the presentations with each other nor the finger with others. A reader that matches
    /// on the chip has stored the template in itself when this returns.
    ///
    /// - Throws: also `storageFull`, `duplicate`. After an error the reader keeps nothing of the attempt, as far
    ///   as its driver can tell.
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
    /// A match is always an entry of `gallery`; a reader that names anything else is ``ReaderError/Code/untrustworthy``.
    func identify(
        among gallery: [GalleryEntry],
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> IdentifyResult

    /// Takes one picture of a finger, as soon as one is on the sensor.
    func capture(whenBusy: BusyPolicy, observer: @escaping ScanObserver) async throws(ReaderError)
        -> FingerprintImage

    /// The templates that the reader keeps, of whatever system.
    func storedPrints(whenBusy: BusyPolicy) async throws(ReaderError) -> [StoredPrint]

    /// Deletes one template from the reader's own storage.
    ///
    /// - Throws: `printNotFound` when it is not there.
    func delete(_ template: Template, whenBusy: BusyPolicy) async throws(ReaderError)

    /// Deletes every template in the reader, of whatever system.
    func clearStorage(whenBusy: BusyPolicy) async throws(ReaderError)

    /// Prepares the reader for the system's sleep.
    ///
    /// A running operation that waits for a finger ends with `suspended`, and never with a match; others end
    /// first. Until ``resume()`` nothing begins: it fails with `suspended`. Closing works.
    func suspend() async throws(ReaderError)

    /// Wakes the reader after the system's sleep.
    func resume() async throws(ReaderError)

    /// Whether a finger is wanted or there, now.
    var fingerStatus: FingerStatus { get async }

    /// The reader's present temperature class.
    var temperature: ReaderTemperature { get async }

    /// Whether two templates are the same one; they may differ as bytes (what the reader's listing leaves out).
    func isSamePrint(_ first: Template, _ second: Template) async -> Bool
}

/// The behavior of a second operation on a reader while one runs.
public enum BusyPolicy: Sendable {
    /// It waits its turn; first come, first served.
    case wait
    /// It fails at once with ``ReaderError/Code/busy``.
    case fail
}

/// A source of readers.
public protocol ReaderSource: Sendable {
    /// The readers that are connected now. The same reader is the same object in each answer.
    ///
    /// - Throws: `malfunction` when the system cannot be asked; an empty list is not an error.
    func readers() async throws(ReaderError) -> [any FingerprintReader]

    /// Readers that come and go from now on, in their order, until the stream's task ends.
    func changes() async -> AsyncStream<ReaderChange>
}

/// A reader was plugged in or out.
public enum ReaderChange: Sendable, Hashable {
    /// It was plugged in.
    case added(ReaderInfo)
    /// It was unplugged.
    case removed(ReaderID)
}
