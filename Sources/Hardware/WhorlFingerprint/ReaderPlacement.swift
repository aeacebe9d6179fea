// SPDX-License-Identifier: Apache-2.0

/// The place of a reader, as the machine's firmware tells it.
package enum ReaderPlacement: Sendable, Hashable, CaseIterable {
    /// Built into the machine.
    case builtIn
    /// Plugged into a port.
    case pluggedIn
    /// Not told, as by many machines' firmware.
    case unknown

    /// Reads the attribute `removable` that Linux gives a USB device.
    package init(removable text: String) {
        self =
            switch text.prefix(while: { !$0.isWhitespace }) {
            case "fixed": .builtIn
            case "removable": .pluggedIn
            default: .unknown
            }
    }
}
