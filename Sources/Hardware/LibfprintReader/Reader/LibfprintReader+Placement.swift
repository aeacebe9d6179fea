// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import WhorlFingerprint

extension LibfprintReader {
    /// The place of the reader: the word of its USB port in sysfs; a sensor without USB is soldered in.
    package var placement: ReaderPlacement {
        guard info.kind == .hardware else { return .unknown }
        guard let place = handle.usbPlace else { return .builtIn }
        return .ofUSBDevice(bus: place.bus, address: place.address, in: "/sys/bus/usb/devices")
    }
}

extension ReaderPlacement {
    /// Returns the placement of the USB device with an address, by the folders of the devices in sysfs.
    static func ofUSBDevice(bus: UInt8, address: UInt8, in folder: String) -> ReaderPlacement {
        // Without sysfs nothing is known, and no reader counts as built in.
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
        // An attribute that cannot be read says nothing.
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        return String(decoding: data.prefix(64), as: UTF8.self)
    }
}
