// SPDX-License-Identifier: Apache-2.0

internal import CWhorlFprint
internal import WhorlGLib

extension LibfprintReader {
    /// Calls a function on the GLib thread whenever a property of the reader changes.
    package func follow(_ change: @escaping @Sendable () -> Void) -> PropertyChanges {
        PropertyChanges(
            [
                SharedSignal(to: device, "notify::finger-status", change),
                SharedSignal(to: device, "notify::scan-type", change),
                SharedSignal(to: device, "notify::nr-enroll-stages", change),
            ]
        )
    }
}

/// The connections to a reader's signals, which last for the lifetime of this value.
package final class PropertyChanges: Sendable {
    private let signals: [SharedSignal]
    fileprivate init(_ signals: [SharedSignal]) { self.signals = signals }
}

/// A signal connection with shared ownership.
private final class SharedSignal: Sendable {
    private let connection: SignalConnection

    init(
        to device: UnsafeMutablePointer<FpDevice>,
        _ signal: String,
        _ change: @escaping @Sendable () -> Void
    ) {
        connection = SignalConnection(to: device, signal: signal) { _ in change() }
    }
}
