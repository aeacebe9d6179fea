// SPDX-License-Identifier: Apache-2.0

internal import CFprint
internal import CGLib
public import Fingerprint
internal import GLibRuntime
internal import Glibc

/// The readers that libfprint finds on this machine.
///
/// There is one for the whole process: libfprint's USB context is of no use twice. It looks for readers when it is first
/// asked, and follows plugging in and out from then on. Its virtual drivers appear only when their environment
/// variables name a socket (`FP_VIRTUAL_IMAGE`, `FP_VIRTUAL_DEVICE`, `FP_VIRTUAL_DEVICE_STORAGE`).
public actor LibfprintSource: ReaderSource {
    /// The only one.
    public static let shared = LibfprintSource()

    private var context: UnsafeMutablePointer<FpContext>?
    private var known: [KnownReader] = []
    private var watchers: [Int: AsyncStream<ReaderChange>.Continuation] = [:]
    private var nextWatcher = 0
    private var additions: SignalConnection?

    /// One of its own for each test; a program uses ``shared``.
    package init() {}

    /// Isolated: libfprint's contexts die on the thread that they live on.
    isolated deinit { if let context { g_object_unref(context) } }

    /// The GLib thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        GLibExecutor.shared.asUnownedSerialExecutor()
    }

    /// The readers that are connected now.
    ///
    /// `fp_context_new()`, `fp_context_enumerate()`, `fp_context_get_devices()`.
    public func readers() throws(ReaderError) -> [any FingerprintReader] {
        try start()
        return known.map(\.reader)
    }

    /// Readers that come and go from now on.
    ///
    /// The signal `device-added` of `FpContext`, and the property `removed` of each `FpDevice`: the context itself
    /// tells of a removal only when the device is closed, which may be never.
    ///
    /// When libfprint cannot be started there is nothing to follow, and the stream ends at once.
    public func changes() -> AsyncStream<ReaderChange> {
        let (stream, continuation) = AsyncStream.makeStream(of: ReaderChange.self)
        do throws(ReaderError) { try start() } catch { continuation.finish() }
        let watcher = nextWatcher
        nextWatcher += 1
        watchers[watcher] = continuation
        // Not in a task: it would need a thread of the shared pool to begin on.
        continuation.onTermination = { [weak self] _ in
            GLibExecutor.shared.perform { [weak self] in self?.assumeIsolated { $0.forget(watcher) } }
        }
        return stream
    }

    /// How many follow ``changes()``.
    var watcherCount: Int { watchers.count }

    private func forget(_ watcher: Int) { watchers[watcher] = nil }

    private func start() throws(ReaderError) {
        guard context == nil else { return }
        guard let new = fp_context_new() else {
            throw ReaderError(.malfunction, operation: "enumerate", cause: "fp_context_new() returned NULL")
        }
        context = new
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

    /// The socket that a virtual reader was made for, which libfprint keeps to itself, or the bed of an emulated USB
    /// (umockdev): readers of different ones are different, although libfprint names them alike.
    private func emulation(of device: UnsafeMutablePointer<FpDevice>) -> String? {
        let variable: String? =
            switch String(cString: fp_device_get_driver(device)) {
            case "virtual_image": "FP_VIRTUAL_IMAGE"
            case "virtual_device": "FP_VIRTUAL_DEVICE"
            case "virtual_device_storage": "FP_VIRTUAL_DEVICE_STORAGE"
            default: nil
            }
        // secure_getenv(3): the variables of whoever starts a set-user-ID program do not count, since a file is made there.
        guard let variable else {
            return secure_getenv("UMOCKDEV_DIR").map { String(cString: $0) + "/whorl" }
        }
        return secure_getenv(variable).map { String(cString: $0) }
    }

    /// Driver and device id; a second reader with both alike gets a number, the lowest that is free.
    ///
    /// libfprint tells nothing that would keep two alike readers apart over a change of the sockets.
    private func freeID(for device: UnsafeMutablePointer<FpDevice>) -> ReaderID {
        let driver = String(cString: fp_device_get_driver(device))
        let number = fp_device_get_device_id(device).map { String(cString: $0) } ?? "0"
        let plain = String(
            "\(driver)-\(number)".unicodeScalars.filter { $0.isASCII && !$0.properties.isWhitespace }
        )
        let taken = Set(known.map(\.reader.id.rawValue))
        guard taken.contains(plain) else { return ReaderID(rawValue: plain) }
        let suffix = (2...).first { !taken.contains("\(plain)-\($0)") } ?? 0
        return ReaderID(rawValue: "\(plain)-\(suffix)")
    }
}

/// A reader that is connected, and what tells when it is no more.
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

/// A signal's argument on its way into `assumeIsolated`.
///
/// Unchecked: it goes no further than the handler, which runs on the GLib thread.
private struct UnsafeSendable: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer
    init(_ pointer: UnsafeMutableRawPointer) { self.pointer = pointer }
}
