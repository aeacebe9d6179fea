// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import WhorlSupport

/// The address of a TPM: a TCTI string of tpm2-tss, checked and of limited length.
///
/// Only known kinds are accepted, and each must name its target. The loader of tpm2-tss would otherwise load a library
/// by any name or path; without a name it searches, and ends at a TCP port that any process could open.
///
/// Source: the forms are those of `Tss2_TctiLdr_Initialize()` of tpm2-tss 3.2.1.
package struct TPMAddress: Sendable, Hashable, CustomStringConvertible {
    /// The kernel's resource manager, `device:/dev/tpmrm0`.
    package static let standard = TPMAddress(checked: "device:/dev/tpmrm0")
    /// The address that stands for no TPM.
    package static let none = TPMAddress(checked: "none")
    /// The string as tpm2-tss takes it.
    package let text: String

    private init(checked text: String) { self.text = text }

    /// Checks a string: `device:/dev/…`, `tabrmd:…`, `swtpm:…`, `mssim:…`, `cmd:…`, `pcap:` before one of these,
    /// or `none`.
    ///
    /// - Throws: ``TPMError/Code-swift.enum/invalidAddress``.
    package init(_ text: String) throws(TPMError) {
        if let fault = TCTIString.fault(in: text) { throw TPMError(.invalidAddress, cause: fault) }
        self.text = text
    }

    /// Whether the address stands for no TPM.
    package var isNone: Bool { self == .none }

    /// Whether the TPM may not be a chip: a simulator, a program in between, or a node that is not one of the kernel's
    /// TPMs, such as a pseudo-terminal with a program behind it.
    ///
    /// Only root makes nodes in `/dev` itself, and only root decides which program has the resource manager's name on
    /// the system bus, unless `DBUS_SYSTEM_BUS_ADDRESS` names another bus: GLib obeys it, except in a set-user-ID
    /// program. A privileged program refuses a simulated TPM, and results contain `"hardware": false`.
    package var isSimulated: Bool {
        let behind = text.hasPrefix("pcap:") ? text.dropFirst("pcap:".count) : text[...]
        if isNone { return false }
        if behind.hasPrefix("tabrmd:") {
            return behind.contains("session") || getenv("DBUS_SYSTEM_BUS_ADDRESS") != nil
        }
        return behind.wholeMatch(of: /device:\/dev\/tpm(rm)?[0-9]+/) == nil
    }

    /// Whether tpm2-tss writes all traffic to the file that the variable `TCTI_PCAP_FILE` names.
    package var isRecorded: Bool { text.hasPrefix("pcap:") }

    /// Whether a resource manager flushes the loaded objects of a connection when it ends.
    var flushesAtClose: Bool { text.contains("tabrmd:") || deviceNode?.hasPrefix("/dev/tpmrm") == true }

    /// The path of the device node; `nil` if the address is not one.
    var deviceNode: String? {
        let behind = text.hasPrefix("pcap:") ? text.dropFirst("pcap:".count) : text[...]
        return behind.hasPrefix("device:") ? String(behind.dropFirst("device:".count)) : nil
    }

    /// The string, the same as ``text``.
    package var description: String { text }
}

/// Checks of a TPM's device node, with clearer errors than the C library's.
enum DeviceNode {
    /// Refuses an address that cannot work, before any library is loaded.
    static func check(_ address: TPMAddress) throws(TPMError) {
        if address.isNone { throw TPMError(.noDevice, cause: "switched off by the address none") }
        guard let node = address.deviceNode else { return }
        // Checked by opening it: access(2) uses the real user ID, and group lists may have any form. Closed at once,
        // since /dev/tpm0 allows one open descriptor at a time.
        let descriptor = open(node, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw TPMError(code(of: errno), cause: "\(node): \(words(errno))") }
        Glibc.close(descriptor)
    }

    /// Returns the error of an opening that failed although the check succeeded.
    static func explain(_ error: TPMError, at address: TPMAddress) -> TPMError {
        // The loader reports a missing library and a missing simulator with the same number.
        error.code == .connectionLost || error.code == .other
            ? TPMError(
                .noDevice,
                command: error.command,
                responseCode: error.responseCode,
                cause: "\(address): \(error.cause)"
            )
            : error
    }

    private static func code(of number: Int32) -> TPMError.Code {
        switch number {
        case EACCES, EPERM: .permission
        case EBUSY: .deviceBusy
        default: .noDevice
        }
    }

    private static func words(_ number: Int32) -> String { String(cString: strerror(number)) }
}
