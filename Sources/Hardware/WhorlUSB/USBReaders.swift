// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import WhorlFingerprint
internal import WhorlSupport

/// The connected USB devices that libfprint supports.
///
/// They are found without libfprint, because it does not list devices that it has no permission to open.
package enum USBReaders {
    package struct Device: Sendable, Equatable {
        /// The vendor and product IDs, such as `04f3:0c7d`.
        package let id: String
        /// The device node, such as `/dev/bus/usb/001/004`.
        package let node: String
        /// Whether this user can open the device for reading and writing.
        package let isAccessible: Bool
        /// The access to the device node.
        package let access: ReaderAccess

        /// Creates a description of a device.
        package init(id: String, node: String, isAccessible: Bool, access: ReaderAccess) {
            self.id = id
            self.node = node
            self.isAccessible = isAccessible
            self.access = access
        }
    }

    /// Returns the connected devices that are in libfprint's installed device list, according to the kernel.
    package static func connected(
        lists: [String] = [
            "/usr/lib/udev/hwdb.d/60-autosuspend-libfprint-2.hwdb",
            "/lib/udev/hwdb.d/60-autosuspend-libfprint-2.hwdb",
            "/usr/lib/udev/hwdb.d/60-autosuspend-fingerprint-reader.hwdb",
        ],
        devices: String = "/sys/bus/usb/devices"
    ) -> [Device] {
        guard let list = lists.lazy.compactMap({ Files.text($0) }).first else { return [] }
        let supported = ids(in: list)
        return Files.names(in: devices).sorted().compactMap { name in
            let folder = "\(devices)/\(name)"
            guard let vendor = Files.word("\(folder)/idVendor"),
                let product = Files.word("\(folder)/idProduct"),
                supported.contains("\(vendor):\(product)"),
                let bus = Files.word("\(folder)/busnum").flatMap({ Int($0) }),
                let number = Files.word("\(folder)/devnum").flatMap({ Int($0) })
            else { return nil }
            let node = "/dev/bus/usb/\(padded(bus))/\(padded(number))"
            return Device(
                id: "\(vendor):\(product)",
                node: node,
                isAccessible: access(node, R_OK | W_OK) == 0,
                access: DeviceNode(node, service: DeviceNode.service).access()
            )
        }
    }

    /// Returns the IDs of the devices in a hwdb file, which has lines such as `usb:v04F3p0C7D*`.
    ///
    /// Devices that libfprint does not support are left out. They come last in the file, under a heading that says so.
    package static func ids(in list: String) -> Set<String> {
        var ids: Set<String> = []
        for line in list.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("#"), line.lowercased().contains("known unsupported") { break }
            if let id = id(in: line) { ids.insert(id) }
        }
        return ids
    }

    private static func id(in line: Substring) -> String? {
        guard line.hasPrefix("usb:v") else { return nil }
        let numbers = line.dropFirst("usb:v".count).prefix(9).split(
            separator: "p",
            omittingEmptySubsequences: false
        )
        guard numbers.count == 2,
            numbers.allSatisfy({ $0.count == 4 && $0.allSatisfy { $0.isASCII && $0.isHexDigit } })
        else { return nil }
        return numbers.joined(separator: ":").lowercased()
    }

    private static func padded(_ number: Int) -> String {
        String(repeating: "0", count: max(0, 3 - String(number).count)) + String(number)
    }
}
