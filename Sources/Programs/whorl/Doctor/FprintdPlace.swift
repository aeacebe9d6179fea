// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WhorlFingerprint

/// The program that the bus starts for a client of fprintd, according to the bus's service files.
enum FprintdPlace: Sendable, Equatable {
    /// No program: neither fprintd nor Whorl's replacement for it is installed.
    case free
    /// Whorl's service.
    case whorl
    /// fprintd's own daemon.
    case fprintd

    /// The folders in which the bus searches for services, in order.
    static let folders = ["/usr/local/share/dbus-1/system-services", "/usr/share/dbus-1/system-services"]

    /// The command that makes Whorl's service own the bus name.
    static let remedy =
        "sudo apt install whorld-fprintd, or after make install: sudo make install-fprintd (Docs/Fprintd.md)"

    /// Determines the program from the bus's service files.
    init(folders: [String] = Self.folders) {
        // An unreadable file assigns the name to no one, as for the bus.
        let texts = folders.compactMap {
            try? String(contentsOfFile: $0 + "/net.reactivated.Fprint.service", encoding: .utf8)
        }
        self =
            switch texts.first {
            case nil: .free
            case let text? where text.contains("SystemdService=dbus-net.reactivated.Fprint.service"): .whorl
            default: .fprintd
            }
    }

    /// Returns whether fprintd's own daemon also uses a reader and can delete the prints stored in it.
    ///
    /// Before its first enrollment, fprintd clears a reader that cannot list its prints. If a reader is full or already
    /// knows the finger, fprintd deletes a print that it did not enroll. Readers without storage are safe, and fprintd
    /// never sees Whorl's mock and virtual readers.
    func endangersPrints(in reader: ReaderInfo) -> Bool {
        self == .fprintd && reader.storage == .reader && reader.kind == .hardware
    }
}
