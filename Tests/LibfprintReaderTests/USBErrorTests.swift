// SPDX-License-Identifier: Apache-2.0

import CWhorlGLib
import WhorlFingerprint
import WhorlGLib
import Testing

@testable import WhorlLibfprint

/// What gusb says, in its own words (0.3.10), and what it means.
@Suite struct `An error of the USB` {
    @Test(
        arguments: [
            (0, "USB error on device 04f3:0c26 : Other error [-99]", .malfunction),
            (1, "USB error on device 04f3:0c26 : Input/Output Error [-1]", .malfunction),
            (2, "transfer timed out", .malfunction),
            (
                3,
                "USB error on device 04f3:0c26 : Operation not supported or unimplemented on this platform [-12]",
                .unsupported
            ),
            (4, "device was disconnected", .unplugged),
            (
                4, "USB error on device 04f3:0c26 : No such device (it may have been disconnected) [-4]",
                .unplugged
            ),
            // gusb 0.3 has no number of its own for it; 0.4 has.
            (4, "USB error on device 04f3:0c26 : Resource busy [-6]", .inUse),
            (10, "USB error on device 04f3:0c26 : Resource busy [-6]", .inUse),
            (10, "somebody has it", .inUse),
            (5, "Device 04f3:0c26 has not been opened", .malfunction),
            (6, "Device 04f3:0c26 is already open", .malfunction),
            (7, "transfer was cancelled", .cancelled),
            (8, "transfer failed", .malfunction),
            (
                9, "USB error on device 04f3:0c26 : Access denied (insufficient permissions) [-3]",
                .permissionDenied
            ),
            (9, "not you", .permissionDenied),
            (99, "of another version", .malfunction),
        ] as [(Int, String, ReaderError.Code)]
    )
    func `is told as what it is`(code: Int, message: String, expected: ReaderError.Code) {
        let error = g_error_new_literal(g_quark_from_string("g-usb-device-error-quark"), gint(code), message)
        guard let failure = GErrorText(taking: error) else { preconditionFailure("an error was made") }
        #expect(ReaderError.Code(failure) == expected)
    }
}
