// SPDX-License-Identifier: Apache-2.0

internal import CWhorlFprint
internal import CWhorlGLib
internal import WhorlGLib
internal import Glibc
internal import WhorlFingerprint

/// A reference to an `FpDevice`, used only on the GLib thread by the reader that owns the handle.
final class DeviceHandle: Sendable {
    private let object: ThreadBoundObject

    /// Retains a device that belongs to a context.
    init(retaining pointer: UnsafeMutableRawPointer) {
        object = ThreadBoundObject(retaining: pointer)
    }

    /// The C object, valid for the lifetime of this handle.
    ///
    /// Transfer: none.
    var pointer: UnsafeMutablePointer<FpDevice> { object.pointer.assumingMemoryBound(to: FpDevice.self) }

    /// Whether the reader was unplugged (the property `removed` of `FpDevice`).
    var isRemoved: Bool {
        withProperty("removed") { g_value_get_boolean($0) != 0 } ?? false
    }

    /// Closes the USB device that libfprint could not open.
    ///
    /// libfprint 1.94.5 keeps the device open in that case and fails every later attempt with "already open". A reader
    /// that was once in use by another program could therefore not be opened until this program ends. Because libfprint
    /// has no function for this, gusb's `g_usb_device_close()` is called with the object in libfprint's property.
    func releaseUSBDevice() {
        guard let close = DeviceHandle.closeUSBDevice else { return }
        withProperty("fpi-usb-device") { value in
            guard let device = g_value_get_object(value) else { return }  // a virtual reader
            var error: UnsafeMutablePointer<GError>?
            _ = close(device, &error)
            g_clear_error(&error)  // it was not open
        }
    }

    /// The bus and the address of a USB device, or `nil` for a reader that is not on USB.
    var usbPlace: (bus: UInt8, address: UInt8)? {
        guard let bus = DeviceHandle.usbNumber("g_usb_device_get_bus"),
            let address = DeviceHandle.usbNumber("g_usb_device_get_address")
        else { return nil }
        return withProperty("fpi-usb-device") { value in
            g_value_get_object(value).map { (bus($0), address($0)) }
        } ?? nil
    }

    /// The USB model, or `nil` for a reader that is not on USB.
    var usbModel: USBModel? {
        guard let vendor = DeviceHandle.modelNumber("g_usb_device_get_vid"),
            let product = DeviceHandle.modelNumber("g_usb_device_get_pid")
        else { return nil }
        return withProperty("fpi-usb-device") { value in
            g_value_get_object(value).map { USBModel(vendor: vendor($0), product: product($0)) }
        } ?? nil
    }

    private typealias USBNumber = @convention(c) (UnsafeMutableRawPointer) -> UInt8
    private typealias ModelNumber = @convention(c) (UnsafeMutableRawPointer) -> UInt16

    private static func usbNumber(_ name: String) -> USBNumber? {
        dlsym(nil, name).map { unsafeBitCast($0, to: USBNumber.self) }
    }

    private static func modelNumber(_ name: String) -> ModelNumber? {
        dlsym(nil, name).map { unsafeBitCast($0, to: ModelNumber.self) }
    }

    private typealias CloseUSBDevice =
        @convention(c) (UnsafeMutableRawPointer, UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) ->
        gboolean

    /// The function `g_usb_device_close()`.
    ///
    /// It is looked up because libfprint loads gusb into the process, but programs that link libfprint do not link
    /// gusb.
    private static let closeUSBDevice: CloseUSBDevice? = dlsym(nil, "g_usb_device_close").map {
        unsafeBitCast($0, to: CloseUSBDevice.self)
    }

    /// Reads a property, or returns `nil` if this libfprint does not have it.
    @discardableResult
    private func withProperty<Value>(_ name: String, _ body: (UnsafePointer<GValue>) -> Value) -> Value? {
        let object = self.object.pointer.assumingMemoryBound(to: GObject.self)
        let type = self.object.pointer.assumingMemoryBound(to: GTypeInstance.self).pointee.g_class
        guard let type else { return nil }
        let found = type.withMemoryRebound(to: GObjectClass.self, capacity: 1) {
            g_object_class_find_property($0, name)
        }
        guard let specification = found else { return nil }
        var value = GValue()
        g_value_init(&value, specification.pointee.value_type)
        defer { g_value_unset(&value) }
        g_object_get_property(object, name, &value)
        return body(&value)
    }
}
