// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import WhorlSupport

/// The address of a TPM, which is a validated TCTI string of limited length for tpm2-tss.
///
/// Only known types are accepted, and each must name its target. Otherwise the loader of tpm2-tss would load a library
/// with any name or path. Without a name, it would search for a TPM and fall back to a TCP port that any process could
/// open.
///
/// Source: the forms that `Tss2_TctiLdr_Initialize()` accepts in tpm2-tss 3.2.1.
package struct TPMAddress: Sendable, Hashable, CustomStringConvertible {
    /// The kernel's resource manager, `device:/dev/tpmrm0`.
    package static let standard = TPMAddress(checked: "device:/dev/tpmrm0")
    /// The address that stands for no TPM.
    package static let none = TPMAddress(checked: "none")
    /// The string for tpm2-tss.
    package let text: String

    private init(checked text: String) { self.text = text }

    /// Validates a string of the form `device:/dev/…`, `tabrmd:…`, `swtpm:…`, `mssim:…` or `cmd:…`, optionally with
    /// `pcap:` in front, or the string `none`.
    ///
    /// - Throws: ``TPMError/Code-swift.enum/invalidAddress``.
    package init(_ text: String) throws(TPMError) {
        if let fault = TCTIString.fault(in: text) { throw TPMError(.invalidAddress, cause: fault) }
        self.text = text
    }

    /// Whether the address stands for no TPM.
    package var isNone: Bool { self == .none }

    /// Whether the TPM might not be real hardware.
    ///
    /// It might be a simulator, a program in between, or a node that is not one of the kernel's TPMs, such as a
    /// pseudo-terminal with a program behind it.
    ///
    /// Only root can create nodes directly in `/dev`, and only root decides which program owns the resource manager's
    /// name on the system bus. The exception is `DBUS_SYSTEM_BUS_ADDRESS`, which GLib obeys except in a set-user-ID
    /// program. A privileged program refuses a simulated TPM, and results for such a TPM contain `"hardware": false`.
    package var isSimulated: Bool {
        let behind = text.hasPrefix("pcap:") ? text.dropFirst("pcap:".count) : text[...]
        if isNone { return false }
        if behind.hasPrefix("tabrmd:") {
            return behind.contains("session") || getenv("DBUS_SYSTEM_BUS_ADDRESS") != nil
        }
        return behind.wholeMatch(of: /device:\/dev\/tpm(rm)?[0-9]+/) == nil
    }

    /// Whether tpm2-tss records all traffic in the file named by the environment variable `TCTI_PCAP_FILE`.
    package var isRecorded: Bool { text.hasPrefix("pcap:") }

    /// Whether a resource manager flushes a connection's loaded objects when the connection is closed.
    var flushesAtClose: Bool { text.contains("tabrmd:") || deviceNode?.hasPrefix("/dev/tpmrm") == true }

    /// The path of the device node, or `nil` for other addresses.
    var deviceNode: String? {
        let behind = text.hasPrefix("pcap:") ? text.dropFirst("pcap:".count) : text[...]
        return behind.hasPrefix("device:") ? String(behind.dropFirst("device:".count)) : nil
    }

    /// The same string as ``text``.
    package var description: String { text }
}

/// Checks a TPM's device node, with clearer errors than those of the C library.
enum DeviceNode {
    /// Rejects an address that cannot work before any library is loaded.
    static func check(_ address: TPMAddress) throws(TPMError) {
        if address.isNone { throw TPMError(.noDevice, cause: "switched off by the address none") }
        guard let node = address.deviceNode else { return }
        // Opening it is the check: access(2) uses the real user ID, and group lists may have any form. It is closed
        // immediately, because /dev/tpm0 allows only one open descriptor.
        let descriptor = open(node, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw TPMError(code(of: errno), cause: "\(node): \(words(errno))") }
        Glibc.close(descriptor)
    }

    /// Returns the error for an address that could not be opened even though the check succeeded.
    static func explain(_ error: TPMError, at address: TPMAddress) -> TPMError {
        // The loader returns the same code for a missing library and a missing simulator.
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
