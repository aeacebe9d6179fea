// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Where the TPM is: a TCTI string of tpm2-tss, bounded and checked.
///
/// Only known kinds are let through, and each must say where it goes. The loader of tpm2-tss would otherwise load a
/// library by any name or path, and without a name it searches, which ends at a TCP port that any process could
/// open.
///
/// Source: the forms are those of `Tss2_TctiLdr_Initialize()` of tpm2-tss 3.2.1.
public struct TPMAddress: Sendable, Hashable, CustomStringConvertible {
    /// The kernel's resource manager, `device:/dev/tpmrm0`.
    public static let standard = TPMAddress(checked: "device:/dev/tpmrm0")
    /// There shall be no TPM.
    public static let none = TPMAddress(checked: "none")
    /// The longest string that is accepted, in bytes.
    public static let maximumLength = 512

    /// The string as tpm2-tss takes it.
    public let text: String

    private init(checked text: String) { self.text = text }

    /// Checks a string: `device:/dev/…`, `tabrmd:…`, `swtpm:…`, `mssim:…`, `cmd:…`, `pcap:` before one of these,
    /// or `none`.
    ///
    /// - Throws: ``TPMError/Code-swift.enum/invalidAddress``.
    public init(_ text: String) throws(TPMError) {
        let fault: String? =
            if text.isEmpty {
                "it is empty"
            } else if text.utf8.count > Self.maximumLength {
                "it is longer than \(Self.maximumLength) bytes"
            } else if !text.utf8.allSatisfy({ 0x20...0x7e ~= $0 }) {
                "it holds characters that are not printable ASCII"
            } else {
                Self.fault(in: text)
            }
        if let fault { throw TPMError(.invalidAddress, cause: fault) }
        self.text = text
    }

    /// What is wrong with the string, if anything.
    private static func fault(in text: String) -> String? {
        if text == "none" { return nil }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let rest = parts.count == 2 ? String(parts[1]) : ""
        switch parts[0] {
        case "device": return rest.hasPrefix("/") ? nil : "device: needs an absolute path"
        case "swtpm", "mssim", "cmd", "tabrmd": return rest.isEmpty ? "\(parts[0]): says not where" : nil
        case "pcap":
            // One recorder around another would only make the string hard to judge.
            return rest == "none" || rest.hasPrefix("pcap:") ? "pcap: needs a TPM behind it" : fault(in: rest)
        default: return "it is none of device:, tabrmd:, swtpm:, mssim:, cmd:, pcap:, none"
        }
    }

    /// Whether there shall be no TPM.
    public var isNone: Bool { self == .none }

    /// Whether what is there is no chip as far as one can tell: a simulator, a program in between, or a node that is none
    /// of the kernel's TPMs, such as a pseudo-terminal with a program behind it.
    ///
    /// Only root makes nodes in `/dev` itself, and only root says who has the resource manager's name on the system bus,
    /// unless `DBUS_SYSTEM_BUS_ADDRESS` names another bus: GLib obeys it, except in a set-user-ID program. A privileged
    /// program refuses a simulated TPM, and results say `"hardware": false`.
    public var isSimulated: Bool {
        let behind = text.hasPrefix("pcap:") ? text.dropFirst("pcap:".count) : text[...]
        if isNone { return false }
        if behind.hasPrefix("tabrmd:") {
            return behind.contains("session") || getenv("DBUS_SYSTEM_BUS_ADDRESS") != nil
        }
        return behind.wholeMatch(of: /device:\/dev\/tpm(rm)?[0-9]+/) == nil
    }

    /// Whether tpm2-tss writes all traffic to a file, which a variable names (`TCTI_PCAP_FILE`).
    public var isRecorded: Bool { text.hasPrefix("pcap:") }

    /// Whether a resource manager flushes what a connection has loaded when it ends.
    var flushesAtClose: Bool { text.contains("tabrmd:") || deviceNode?.hasPrefix("/dev/tpmrm") == true }

    /// The device node, where it is one.
    var deviceNode: String? {
        let behind = text.hasPrefix("pcap:") ? text.dropFirst("pcap:".count) : text[...]
        return behind.hasPrefix("device:") ? String(behind.dropFirst("device:".count)) : nil
    }

    /// The string.
    public var description: String { text }
}
