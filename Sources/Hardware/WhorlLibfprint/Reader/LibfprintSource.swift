// SPDX-License-Identifier: Apache-2.0

internal import CWhorlFprint
internal import CWhorlGLib
package import WhorlFingerprint
internal import WhorlGLib
internal import Glibc

/// A source of the readers that libfprint finds on this machine.
///
/// There is one source for the whole process, because libfprint's USB context cannot be used twice. It enumerates
/// readers at the first request and then keeps track of readers that are connected and disconnected. libfprint's
/// virtual drivers appear only if their environment variables name a socket (`FP_VIRTUAL_IMAGE`, `FP_VIRTUAL_DEVICE`,
/// `FP_VIRTUAL_DEVICE_STORAGE`).
package actor LibfprintSource: ReaderSource {
    /// The source of this process.
    package static let shared = LibfprintSource()

    private var context: UnsafeMutablePointer<FpContext>?
    /// The calls that are waiting for libfprint's enumeration, or `nil` at other times.
    private var waiting: [CheckedContinuation<Void, Never>]?
    private var known: [KnownReader] = []
    private var watchers: [Int: AsyncStream<ReaderChange>.Continuation] = [:]
    private var nextWatcher = 0
    private var additions: SignalConnection?

    /// Creates a separate source for tests.
    ///
    /// Programs use ``shared``.
    package init() {}

    /// Frees the context.
    ///
    /// It is isolated because libfprint's contexts must be freed on their own thread.
    isolated deinit { if let context { g_object_unref(context) } }

    /// The executor of the GLib thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        GLibExecutor.shared.asUnownedSerialExecutor()
    }

    /// Returns the readers that are currently connected.
    ///
    /// `fp_context_new()`, `fp_context_enumerate()`, `fp_context_get_devices()`.
    package func readers() async throws(ReaderError) -> [any FingerprintReader] {
        try await start()
        return known.map(\.reader)
    }

    /// Returns a stream of the readers that are connected and disconnected from now on.
    ///
    /// It uses the signal `device-added` of `FpContext` and the property `removed` of each `FpDevice`, because the
    /// context itself reports a removal only when the device is closed, which may never happen.
    ///
    /// If libfprint cannot be started, the stream ends immediately.
    package func changes() async -> AsyncStream<ReaderChange> {
        let (stream, continuation) = AsyncStream.makeStream(of: ReaderChange.self)
        do throws(ReaderError) { try await start() } catch { continuation.finish() }
        let watcher = nextWatcher
        nextWatcher += 1
        watchers[watcher] = continuation
        // Not in a task, which would need a thread of the shared pool to start.
        continuation.onTermination = { [weak self] _ in
            GLibExecutor.shared.perform { [weak self] in self?.assumeIsolated { $0.forget(watcher) } }
        }
        return stream
    }

    /// The readers found so far, or an empty list before the first request.
    var connected: [LibfprintReader] { known.map(\.reader) }

    /// Returns the readers that are currently connected, with their concrete type.
    package func libfprintReaders() async throws(ReaderError) -> [LibfprintReader] {
        try await start()
        return connected
    }

    /// The number of active ``changes()`` streams.
    var watcherCount: Int { watchers.count }

    private func forget(_ watcher: Int) { watchers[watcher] = nil }

    /// Enumerates the readers once, or waits if another call is already doing so.
    ///
    /// `fp_context_enumerate()` iterates the main context until all readers have responded, so other calls to this
    /// actor run before any reader is known.
    private func start() async throws(ReaderError) {
        if waiting != nil { return await withCheckedContinuation { waiting?.append($0) } }
        guard context == nil else { return }
        guard let new = fp_context_new() else {
            throw ReaderError(.malfunction, operation: "enumerate", cause: "fp_context_new() returned NULL")
        }
        context = new
        waiting = []
        fp_context_enumerate(new)
        if let devices = fp_context_get_devices(new) {  // transfer none
            for index in 0..<Int(devices.pointee.len) {
                if let device = devices.pointee.pdata[index] { add(device) }
            }
        }
        additions = SignalConnection(to: new, signal: "device-added") { [weak self] argument in
            guard let argument else { return }
            let device = UnsafeSendable(argument)
            self?.assumeIsolated { $0.deviceAdded(device.pointer) }
        }
        for call in waiting ?? [] { call.resume() }
        waiting = nil
    }

    @discardableResult
    private func add(_ pointer: UnsafeMutableRawPointer) -> LibfprintReader {
        let handle = DeviceHandle(retaining: pointer)
        let reader = LibfprintReader(
            handle,
            id: freeID(for: handle.pointer),
            emulation: emulation(of: handle.pointer)
        )
        let removal = SignalConnection(to: pointer, signal: "notify::removed") { [weak self] _ in
            self?.assumeIsolated { $0.deviceRemoved(handle) }
        }
        known.append(KnownReader(handle: handle, reader: reader, removal: removal))
        return reader
    }

    private func deviceAdded(_ pointer: UnsafeMutableRawPointer) {
        let reader = add(pointer)
        let change = ReaderChange.added(reader.assumeIsolated { $0.info })
        for watcher in watchers.values { watcher.yield(change) }
    }

    private func deviceRemoved(_ handle: DeviceHandle) {
        guard handle.isRemoved, let index = known.firstIndex(where: { $0.handle === handle }) else { return }
        let reader = known.remove(at: index).reader
        for watcher in watchers.values { watcher.yield(.removed(reader.id)) }
    }

    /// Returns the socket of a virtual reader, which libfprint does not reveal, or the folder of an emulated USB bus
    /// (umockdev).
    ///
    /// The result distinguishes readers to which libfprint gives the same name.
    private func emulation(of device: UnsafeMutablePointer<FpDevice>) -> String? {
        let variable: String? =
            switch String(cString: fp_device_get_driver(device)) {
            case "virtual_image": "FP_VIRTUAL_IMAGE"
            case "virtual_device": "FP_VIRTUAL_DEVICE"
            case "virtual_device_storage": "FP_VIRTUAL_DEVICE_STORAGE"
            case "virtual_device_storage_no_list": "FP_VIRTUAL_DEVICE_STORAGE_NO_LIST"
            default: nil
            }
        // secure_getenv(3): a set-user-ID program ignores the caller's variables, because a file is created there.
        guard let variable else {
            return secure_getenv("UMOCKDEV_DIR").map { String(cString: $0) + "/whorl" }
        }
        return secure_getenv(variable).map { String(cString: $0) }
    }

    /// Returns an ID that consists of the driver and the device ID.
    ///
    /// A second reader with the same values gets the lowest free number.
    ///
    /// libfprint does not report anything that would distinguish two readers of the same model if they are moved to
    /// different ports.
    private func freeID(for device: UnsafeMutablePointer<FpDevice>) -> ReaderID {
        let driver = String(cString: fp_device_get_driver(device))
        let number = fp_device_get_device_id(device).map { String(cString: $0) } ?? "0"
        let plain = LibfprintReader.id(driver: driver, number: number).rawValue
        let taken = Set(known.map(\.reader.id.rawValue))
        guard taken.contains(plain) else { return ReaderID(rawValue: plain) }
        let suffix = (2...).first { !taken.contains("\(plain)-\($0)") } ?? 0
        return ReaderID(rawValue: "\(plain)-\(suffix)")
    }
}

/// A connected reader, and the connection to its removal signal.
private final class KnownReader {
    let handle: DeviceHandle
    let reader: LibfprintReader
    private let removal: SignalConnection

    init(handle: DeviceHandle, reader: LibfprintReader, removal: consuming SignalConnection) {
        self.handle = handle
        self.reader = reader
        self.removal = removal
    }
}

/// A signal's argument that is being passed into `assumeIsolated`.
///
/// Unchecked: it is used only in the handler, which runs on the GLib thread.
private struct UnsafeSendable: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer
    init(_ pointer: UnsafeMutableRawPointer) { self.pointer = pointer }
}
