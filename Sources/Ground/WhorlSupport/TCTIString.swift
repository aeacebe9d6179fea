// SPDX-License-Identifier: Apache-2.0

/// The format of a TPM's address: a TCTI string of tpm2-tss.
///
/// Source: the formats that `Tss2_TctiLdr_Initialize()` of tpm2-tss 3.2.1 accepts.
package enum TCTIString {
    /// The maximum length of a string in bytes.
    package static let maximumLength = 512

    /// Returns the problem with a string; `nil` if the string is valid.
    package static func fault(in text: String) -> String? {
        if text.isEmpty { return "it is empty" }
        if text.utf8.count > maximumLength { return "it is longer than \(maximumLength) bytes" }
        guard text.utf8.allSatisfy({ 0x20...0x7e ~= $0 }) else {
            return "it contains characters that are not printable ASCII"
        }
        return faultOfKind(text)
    }

    private static func faultOfKind(_ text: String) -> String? {
        if text == "none" { return nil }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let rest = parts.count == 2 ? String(parts[1]) : ""
        switch parts[0] {
        case "device": return rest.hasPrefix("/") ? nil : "device: needs an absolute path"
        case "swtpm", "mssim", "cmd", "tabrmd": return rest.isEmpty ? "\(parts[0]): needs an address" : nil
        case "pcap":
            // A recorder around another recorder would only make the string hard to validate.
            return rest == "none" || rest.hasPrefix("pcap:")
                ? "pcap: needs a TPM behind it" : faultOfKind(rest)
        default: return "it must begin with device:, tabrmd:, swtpm:, mssim:, cmd: or pcap:, or be none"
        }
    }
}
