// SPDX-License-Identifier: Apache-2.0

internal import Foundation

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
        Foundation.close(descriptor)
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
