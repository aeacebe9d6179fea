// SPDX-License-Identifier: Apache-2.0

import Glibc
package import WhorlRemote
package import WhorlService
import WhorlSupport

/// A destination for records of requests and their results.
package protocol CallJournal: Sendable {
    /// Writes the record of one call; does nothing if there is no journal.
    func write(_ record: CallRecord, of asker: Asker?)
}

/// The systemd journal, with fields for searching (`journalctl WHORL_UID=1000`).
package struct SystemJournal: CallJournal {
    private let path: String

    package init(path: String = "/run/systemd/journal/socket") { self.path = path }

    package func write(_ record: CallRecord, of asker: Asker?) {
        let datagram = Self.fields(record, asker).map { "\($0)=\($1)\n" }.joined()
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return }
        defer { close(socket) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                // A full or missing journal does not delay the answer to a call.
                let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
                _ = sendto(socket, datagram, datagram.utf8.count, flags, address, size)
            }
        }
    }

    /// Returns the fields of a record.
    ///
    /// Line breaks are removed from external text, so that it cannot form another field.
    static func fields(_ record: CallRecord, _ asker: Asker?) -> [(name: String, value: String)] {
        let purpose = DisplayText.clean(record.purpose)
        let name = asker?.spoken(record.application) ?? DisplayText.quoted(record.application, limit: 60)
        let user = asker.map { ThisProcess.userName(of: $0.user) } ?? ""
        let common: [(name: String, value: String)] = [
            (
                "MESSAGE",
                "\(user): \(name) asked: \(DisplayText.quoted(record.purpose)) [\(record.method)]: \(record.outcome)"
            ),
            ("PRIORITY", "6"),
            ("SYSLOG_IDENTIFIER", "whorld"),
        ]
        // Whorl's own fields, which begin with `WHORL_` in the journal.
        let own: [(String, String?)] = [
            ("METHOD", record.method),
            ("OUTCOME", record.outcome),
            ("PURPOSE", purpose),
            ("APPLICATION", DisplayText.clean(record.application)),
            ("UID", asker.map { "\($0.user)" }),
            ("CONFINED_AS", asker?.confinedAs),
            ("PROCESS", asker?.process),
            ("PID", asker?.processID.map { "\($0)" }),
            ("UNIT", asker?.unit),
            ("SESSION", asker?.session),
            ("UNWRITTEN", record.unwritten > 0 ? "\(record.unwritten)" : nil),
        ]
        return common + own.compactMap { name, value in value.map { (name: "WHORL_" + name, value: $0) } }
    }
}
