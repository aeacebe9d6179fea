// SPDX-License-Identifier: Apache-2.0

package import CWhorlFprint
internal import CWhorlGLib
internal import FoundationEssentials
internal import WhorlGLib
package import WhorlFingerprint
internal import WhorlSupport
package import WhorlUSB

/// A fingerprint reader that is operated by a libfprint driver.
///
/// The actor runs on the GLib thread and owns one `FpDevice`. Operations take turns at a gate. Suspending and resuming
/// bypass the gate, because they act on the operation in progress.
package actor LibfprintReader: FingerprintReader {
    /// The device, valid for the lifetime of this reader.
    let handle: DeviceHandle
    /// The ID that the source assigned to this device.
    let id: ReaderID
    /// The path of a virtual reader's socket or of an emulated reader's folder, which distinguishes simulated readers.
    let emulation: String?
    /// The gate that admits one operation at a time.
    let gate = OperationGate()
    /// The operation in progress that is waiting for a finger, if any.
    var scan: RunningScan?
    /// The connection to the reader's signal for finger status changes.
    var statusChanges: SignalConnection?
    /// The reader's state with respect to system sleep.
    var sleep = Sleep()
    /// The lock that prevents this user's other programs from using the reader while it is open.
    var lock: FileLock?

    init(_ handle: DeviceHandle, id: ReaderID, emulation: String?) {
        self.handle = handle
        self.id = id
        self.emulation = emulation
    }

    /// The C object (transfer none), for libfprint calls.
    package var device: UnsafeMutablePointer<FpDevice> { handle.pointer }

    /// The executor of the GLib thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        GLibExecutor.shared.asUnownedSerialExecutor()
    }

    /// The description of the reader (`fp_device_get_driver()`, `…_name()`, `…_features()` and similar).
    package var info: ReaderInfo {
        let features = ReaderFeatures(fp_device_get_features(device))
        let storage: ReaderInfo.Storage = features.contains(.storage) ? .reader : .host
        let kind: ReaderInfo.Kind = driver.hasPrefix("virtual_") ? .virtual : .hardware
        return ReaderInfo(
            id: id,
            driver: driver,
            name: fp_device_get_name(device).map { String(cString: $0) } ?? driver,
            kind: kind,
            scanType: ReaderInfo.ScanType(fp_device_get_scan_type(device)),
            features: features,
            enrollStages: Int(fp_device_get_nr_enroll_stages(device)),
            storage: storage,
            strength: ReaderStrength(driver: driver, kind: kind, storage: storage),
            access: access(kind),
            usb: handle.usbModel
        )
    }

    var driver: String { String(cString: fp_device_get_driver(device)) }

    /// Whether a finger is needed or present (`fp_device_get_finger_status()`).
    package var fingerStatus: FingerStatus { FingerStatus(fp_device_get_finger_status(device)) }

    /// The temperature of the reader (`fp_device_get_temperature()`).
    package var temperature: ReaderTemperature { ReaderTemperature(fp_device_get_temperature(device)) }

    /// Opens the reader (`fp_device_open()`).
    package func open() async throws(ReaderError) {
        try await gate.run("open", whenBusy: .wait) { () async throws(ReaderError) in
            guard !handle.isRemoved else { throw ReaderError(.unplugged, operation: "open") }
            guard fp_device_is_open(device) == 0 else { return }
            try requireAwake("open")
            let lock = try ReaderLock.take(for: id, emulation: emulation)
            do throws(ReaderError) {
                try await call("open", finish: fp_device_open_finish) { cancellable, reply in
                    fp_device_open(device, cancellable, readyCallback, reply)
                }
            } catch {
                handle.releaseUSBDevice()
                guard error.code == .inUse else { throw error }
                throw ReaderError(
                    .inUse,
                    operation: "open",
                    cause: "\(await ReaderHolder.likely()) \(error.cause)"
                )
            }
            self.lock = lock
        }
    }

    /// Closes the reader (`fp_device_close()`).
    ///
    /// Cancelling the task does not cancel this call, because a half-open device would be useless.
    package func close() async throws(ReaderError) {
        try await uncancelled("close") { reader async throws(ReaderError) in
            guard fp_device_is_open(reader.device) != 0 else { return }
            defer { reader.lock = nil }
            do throws(ReaderError) {
                // A suspended reader cannot be closed.
                try await reader.tellDriverToWake()
                try await reader.call("close", finish: fp_device_close_finish) { cancellable, reply in
                    fp_device_close(reader.device, cancellable, readyCallback, reply)
                }
            } catch  where error.code == .unplugged {
                // There is nothing left to close.
            }
        }
    }

    /// Returns whether two templates are the same print (`fp_print_equal()`, which requires both to be from the same
    /// driver).
    package func isSamePrint(_ first: Template, _ second: Template) -> Bool {
        if first == second { return true }
        guard let one = try? PrintHandle(first, operation: "compare"),
            let other = try? PrintHandle(second, operation: "compare"),
            one.isCompatible(with: device), other.isCompatible(with: device)
        else { return false }
        return fp_print_equal(one.pointer, other.pointer) != 0
    }
}

extension LibfprintReader {
    /// Whether the reader is emulated (umockdev) and therefore has no device node.
    package var isEmulated: Bool { emulation != nil }

    /// The device node of a USB reader.
    package var node: DeviceNode? {
        guard info.kind == .hardware, !isEmulated else { return nil }
        return usbNode
    }

    private var usbNode: DeviceNode? {
        handle.usbPlace.map { DeviceNode(bus: $0.bus, address: $0.address, service: DeviceNode.service) }
    }

    private func access(_ kind: ReaderInfo.Kind) -> ReaderAccess {
        guard kind == .hardware, !isEmulated else { return ReaderAccess(.pretended) }
        return usbNode?.access() ?? ReaderAccess(.unknown, ["the reader is not a USB device"])
    }

    /// The placement of the reader, as determined from its USB port in sysfs.
    ///
    /// A sensor that is not on USB is built in.
    package var placement: ReaderPlacement {
        guard info.kind == .hardware else { return .unknown }
        guard let place = handle.usbPlace else { return .builtIn }
        return .ofUSBDevice(bus: place.bus, address: place.address, in: "/sys/bus/usb/devices")
    }
}

extension ReaderPlacement {
    /// Returns the placement of the USB device at an address, as determined from the device folders in sysfs.
    static func ofUSBDevice(bus: UInt8, address: UInt8, in folder: String) -> ReaderPlacement {
        // Without sysfs the placement is unknown, and no reader counts as built in.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where !name.contains(":") {
            let device = "\(folder)/\(name)"
            guard number(in: "\(device)/busnum") == bus, number(in: "\(device)/devnum") == address else {
                continue
            }
            return ReaderPlacement(removable: text(in: "\(device)/removable") ?? "")
        }
        return .unknown
    }

    private static func number(in path: String) -> UInt8? {
        text(in: path).flatMap { UInt8($0.prefix(while: \.isNumber)) }
    }

    private static func text(in path: String) -> String? {
        // An unreadable attribute means unknown.
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        return String(decoding: data.prefix(64), as: UTF8.self)
    }
}
