// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import WhorlSupport

/// Guesses who holds a USB reader that cannot be claimed.
enum ReaderHolder {
    /// A running fprintd, or another process of this user that has a USB device open; empty when none is seen.
    ///
    /// The kernel does not tell who claimed an interface, so it is a guess: for a message, never for a decision. It is
    /// made on a thread of its own: the GLib thread, which may be a program's main thread, must not wait for `/proc`.
    static func likely() async -> String { await onThread("whorl-holder", search) ?? "" }

    private static func search() -> String {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        for process in processes {
            guard let id = Int32(process), id != getpid() else { continue }
            let name = (try? String(contentsOfFile: "/proc/\(id)/comm", encoding: .utf8))?
                .trimmingCharacters(in: .whitespacesAndNewlines)
            guard let name else { continue }
            if name == "fprintd" || hasUSBDeviceOpen(id) { return "probably held by \(name) (process \(id))" }
        }
        return ""
    }

    /// Only for processes whose descriptors this user may read.
    private static func hasUSBDeviceOpen(_ process: Int32) -> Bool {
        let folder = "/proc/\(process)/fd"
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return descriptors.contains { descriptor in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(descriptor)")
            return target?.hasPrefix("/dev/bus/usb/") ?? false
        }
    }
}
