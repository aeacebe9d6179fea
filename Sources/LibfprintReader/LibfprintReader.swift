// SPDX-License-Identifier: Apache-2.0

internal import CFprint
internal import CGLib
public import Fingerprint
internal import GLibRuntime

/// A reader that a driver of libfprint speaks to.
///
/// The actor lives on the GLib thread and owns one `FpDevice`. Operations take turns at a gate; suspending and
/// resuming do not, since they act on the operation that runs.
public actor LibfprintReader: FingerprintReader {
    private let handle: DeviceHandle
    /// The identity that the source gave to this device.
    let id: ReaderID
    /// The socket of a virtual reader: what tells one from another.
    private let socket: String?
    /// Lets one operation at a time through.
    let gate = OperationGate()
    /// What the running operation has told so far; `nil` while none waits for a finger.
    private var scan: RunningScan?
    private var statusChanges: SignalConnection?
    private var lock: ReaderLock?

    init(_ handle: DeviceHandle, id: ReaderID, socket: String?) {
        self.handle = handle
        self.id = id
        self.socket = socket
    }

    /// The C object (transfer none).
    var device: UnsafeMutablePointer<FpDevice> { handle.pointer }

    /// The GLib thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        GLibExecutor.shared.asUnownedSerialExecutor()
    }

    /// What the reader is (`fp_device_get_driver()`, `…_name()`, `…_features()` and their like).
    public var info: ReaderInfo {
        let features = ReaderFeatures(fp_device_get_features(device))
        let storage: ReaderInfo.Storage = features.contains(.storage) ? .reader : .host
        return ReaderInfo(
            id: id,
            driver: driver,
            name: fp_device_get_name(device).map { String(cString: $0) } ?? driver,
            kind: driver.hasPrefix("virtual_") ? .virtual : .hardware,
            scanType: ReaderInfo.ScanType(fp_device_get_scan_type(device)),
            features: features,
            enrollStages: Int(fp_device_get_nr_enroll_stages(device)),
            storage: storage,
            strength: ReaderStrength(driver: driver, storage: storage)
        )
    }

    private var driver: String { String(cString: fp_device_get_driver(device)) }

    /// Whether a finger is wanted or there (`fp_device_get_finger_status()`).
    public var fingerStatus: FingerStatus { FingerStatus(fp_device_get_finger_status(device)) }

    /// How warm the reader is (`fp_device_get_temperature()`).
    public var temperature: ReaderTemperature { ReaderTemperature(fp_device_get_temperature(device)) }

    /// Makes the reader ready (`fp_device_open()`).
    public func open() async throws(ReaderError) {
        try await gate.run("open", whenBusy: .wait) { () async throws(ReaderError) in
            guard fp_device_is_open(device) == 0 else { return }
            var lock: ReaderLock? = try ReaderLock(for: id, socket: socket)
            do throws(ReaderError) {
                try await call("open", finish: fp_device_open_finish) { cancellable, reply in
                    fp_device_open(device, cancellable, readyCallback, reply)
                }
            } catch  where error.code == .inUse {
                throw ReaderError(.inUse, operation: "open", cause: "\(ReaderHolder.likely()) \(error.cause)")
            }
            self.lock = lock.take()
        }
    }

    /// Lets the reader go (`fp_device_close()`).
    ///
    /// It is not cancelled with its task: a device that stays half open would be of no use to anybody.
    public func close() async throws(ReaderError) {
        let closing = Task { () async -> ReaderError? in
            do throws(ReaderError) {
                try await gate.run("close", whenBusy: .wait) { () async throws(ReaderError) in
                    guard fp_device_is_open(device) != 0 else { return }
                    defer { lock = nil }
                    do throws(ReaderError) {
                        try await call("close", finish: fp_device_close_finish) { cancellable, reply in
                            fp_device_close(device, cancellable, readyCallback, reply)
                        }
                    } catch  where error.code == .unplugged {
                        // There is nothing left to close.
                    }
                }
                return nil
            } catch {
                return error
            }
        }
        if let error = await closing.value { throw error }
    }

    /// Prepares for the system's sleep (`fp_device_suspend()`).
    public func suspend() async throws(ReaderError) {
        try await call("suspend", finish: fp_device_suspend_finish) { cancellable, reply in
            fp_device_suspend(device, cancellable, readyCallback, reply)
        }
    }

    /// Wakes after the system's sleep (`fp_device_resume()`).
    public func resume() async throws(ReaderError) {
        try await call("resume", finish: fp_device_resume_finish) { cancellable, reply in
            fp_device_resume(device, cancellable, readyCallback, reply)
        }
    }

    /// Whether two templates are the same print (`fp_print_equal()`, which asks for both to be of one driver).
    public func isSamePrint(_ first: Template, _ second: Template) -> Bool {
        if first == second { return true }
        guard let one = try? PrintHandle(first, operation: "compare"),
            let other = try? PrintHandle(second, operation: "compare"),
            one.isCompatible(with: device), other.isCompatible(with: device)
        else { return false }
        return fp_print_equal(one.pointer, other.pointer) != 0
    }
}

// MARK: - Calls

extension LibfprintReader {
    /// Runs an operation of an open reader that can do it, alone.
    func whenOpen<Value: Sendable>(
        _ operation: String,
        needing feature: ReaderFeatures = [],
        _ policy: BusyPolicy,
        _ body: () async throws(ReaderError) -> Value
    ) async throws(ReaderError) -> Value {
        try await gate.run(operation, whenBusy: policy) { () async throws(ReaderError) in
            guard fp_device_is_open(device) != 0 else { throw ReaderError(.notOpen, operation: operation) }
            // A virtual driver whose reader is gone would wait for ever.
            guard !handle.isRemoved else { throw ReaderError(.unplugged, operation: operation) }
            // libfprint calls it a success to delete from a reader that cannot delete.
            guard ReaderFeatures(fp_device_get_features(device)).isSuperset(of: feature) else {
                throw ReaderError(.unsupported, operation: operation)
            }
            return try await body()
        }
    }
}

extension LibfprintReader {
    /// The `…_finish()` of a call that only succeeds or fails.
    typealias Finish = (
        UnsafeMutablePointer<FpDevice>?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?
    ) -> gboolean

    /// Makes a call that has no result and for which "try again" has no meaning.
    func call(
        _ operation: String,
        finish: @escaping Finish,
        start: (UnsafeMutablePointer<GCancellable>, UnsafeMutableRawPointer) -> Void
    ) async throws(ReaderError) {
        try await call(operation) { device, result, error in
            finish(device, result, error) != 0 ? () : nil
        } start: { cancellable, reply in
            start(cancellable, reply)
        }
    }

    /// Makes a call whose result is one value, for which "try again" has no meaning.
    func call<Value: Sendable>(
        _ operation: String,
        finish:
            @escaping (
                UnsafeMutablePointer<FpDevice>, OpaquePointer,
                UnsafeMutablePointer<UnsafeMutablePointer<GError>?>
            ) throws(ReaderError) -> Value?,
        start: (UnsafeMutablePointer<GCancellable>, UnsafeMutableRawPointer) -> Void
    ) async throws(ReaderError) -> Value {
        let outcome = try await attempt(operation, finish: finish, start: start)
        switch outcome {
        case .value(let value): return value
        case .retry(let reason): throw CallFailure.retry(reason).asError
        }
    }

    /// Makes a call that ends in a value, in "try again", or in an error.
    func attempt<Value: Sendable>(
        _ operation: String,
        finish:
            @escaping (
                UnsafeMutablePointer<FpDevice>, OpaquePointer,
                UnsafeMutablePointer<UnsafeMutablePointer<GError>?>
            ) throws(ReaderError) -> Value?,
        start: (UnsafeMutablePointer<GCancellable>, UnsafeMutableRawPointer) -> Void
    ) async throws(ReaderError) -> Attempt<Value> {
        let cancellable = Cancellable()
        let handle = handle
        return try await bridge(cancellable) { (result) -> Result<Attempt<Value>, ReaderError> in
            var error: UnsafeMutablePointer<GError>?
            do throws(ReaderError) {
                if let value = try finish(handle.pointer, result, &error) {
                    g_clear_error(&error)
                    return .success(.value(value))
                }
            } catch {
                return .failure(error)
            }
            guard let failure = GErrorText(taking: error) else {
                let cause = "neither a result nor an error"
                return .failure(ReaderError(.malfunction, operation: operation, cause: cause))
            }
            switch CallFailure(failure, operation: operation) {
            case .retry(let reason): return .success(.retry(reason))
            case .error(let error): return .failure(error)
            }
        } start: { reply in
            start(cancellable.pointer, reply.userData)
        }
    }
}

/// The end of a call that did not fail.
enum Attempt<Value: Sendable>: Sendable {
    case value(Value)
    case retry(ScanRetry)
}

// MARK: - Finger status

/// What an operation that waits for fingers has to tell, and to whom.
struct RunningScan {
    var tracker: TouchTracker
    let observer: ScanObserver
}

extension LibfprintReader {
    /// For how long a driver may say nothing before a touch is announced without it.
    private static var silence: Duration { .milliseconds(400) }

    /// Runs `body` as the operation whose events `observer` gets.
    func observed<Value: Sendable>(
        by observer: @escaping ScanObserver,
        presentations: Int = 1,
        _ body: () async throws(ReaderError) -> Value
    ) async throws(ReaderError) -> Value {
        watchFingerStatus()
        scan = RunningScan(tracker: TouchTracker(presentations: presentations), observer: observer)
        fingerStatusChanged()
        let reminder = Task {
            // Cancelled with the end of the operation; then there is nothing left to announce.
            while (try? await Task.sleep(for: LibfprintReader.silence)) != nil { driverStaysSilent() }
        }
        defer {
            reminder.cancel()
            scan = nil
        }
        return try await body()
    }

    /// A presentation of the running enrollment ended, well (`stage`) or not (`retry`).
    func presentationEnded(_ event: ScanEvent) {
        tell([event])
        let wasRead = if case .stage = event { true } else { false }
        tell(scan?.tracker.presentationEnded(wasRead: wasRead) ?? [])
    }

    private func watchFingerStatus() {
        guard statusChanges == nil else { return }
        statusChanges = SignalConnection(to: device, signal: "notify::finger-status") { [weak self] _ in
            self?.assumeIsolated { $0.fingerStatusChanged() }
        }
    }

    private func fingerStatusChanged() {
        let status = fingerStatus
        tell(scan?.tracker.statusChanged(to: status) ?? [])
    }

    private func driverStaysSilent() {
        tell(scan?.tracker.driverStaysSilent() ?? [])
    }

    private func tell(_ events: [ScanEvent]) {
        guard let observer = scan?.observer else { return }
        for event in events { observer(event) }
    }
}
