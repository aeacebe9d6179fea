// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import WhorlSupport

/// A guess at the process that holds a USB reader that cannot be claimed.
enum ReaderHolder {
    /// Returns a running fprintd, or another process of this user that has a USB device open; empty if none is found.
    ///
    /// The kernel does not tell which process claimed an interface, so this is a guess: for a message, never for a
    /// decision. It runs on its own thread, because the GLib thread, which may be a program's main thread, must not
    /// wait for `/proc`.
    static func likely() async -> String { await onThread("whorl-holder", search) ?? "" }

    private static func search() -> String {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        for process in processes {
            guard let id = Int32(process), id != getpid() else { continue }
            guard let line = try? String(contentsOfFile: "/proc/\(id)/comm", encoding: .utf8) else {
                continue
            }
            let name = line.prefix { !$0.isNewline }
            if name == "fprintd" || hasUSBDeviceOpen(id) { return "probably held by \(name) (process \(id))" }
        }
        return ""
    }

    /// Returns `true` only for processes whose descriptors this user may read.
    private static func hasUSBDeviceOpen(_ process: Int32) -> Bool {
        let folder = "/proc/\(process)/fd"
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return descriptors.contains { descriptor in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(descriptor)")
            return target?.hasPrefix("/dev/bus/usb/") ?? false
        }
    }
}
