// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Why a device node of a TPM cannot be opened, told better than the C library does.
enum DeviceNode {
    /// Refuses what can be refused before anything is loaded.
    static func check(_ address: TPMAddress) throws(TPMError) {
        if address.isNone { throw TPMError(.noDevice, cause: "switched off by the address none") }
        guard let node = address.deviceNode else { return }
        // Asked by opening it: access(2) judges by the real user, and group lists may be of any shape. Closed at once,
        // since /dev/tpm0 takes one opener at a time.
        let descriptor = open(node, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw TPMError(code(of: errno), cause: "\(node): \(words(errno))") }
        Foundation.close(descriptor)
    }

    /// An opening that failed all the same.
    static func explain(_ error: TPMError, at address: TPMAddress) -> TPMError {
        // The loader tells of a missing library or simulator with one and the same number.
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
