// SPDX-License-Identifier: Apache-2.0

import CGTK
import PromptWindows
import WhorlSupport

/// The state of a switch.
struct SwitchState: Sendable {
    var isOn: Bool
    /// Whether the user can change it; otherwise, it is grayed out.
    var canChange = true
    /// The lines below the title, such as the reason why the switch is grayed out.
    var lines: [String] = []
}

/// A row with a switch.
///
/// The switch shows what is the case. When the user moves it, it is between both positions until ``show(_:)`` is called.
@MainActor
final class SwitchRow {
    private typealias Moved = @convention(c) (OpaquePointer?, gboolean, gpointer?) -> gboolean

    let widget: Widget
    private let control: Widget = gtk_switch_new()
    private let lines = Build.label()
    private let change: @MainActor (Bool) -> Void
    /// Whether the program moves the switch, and not the user.
    private var isShowing = false

    /// Creates a row.
    ///
    /// - Parameters:
    ///   - title: The title, which is also the name of the switch.
    ///   - change: Called with the position that the user wants.
    init(_ title: String, _ change: @escaping @MainActor (Bool) -> Void) {
        self.change = change
        widget = Build.row(title, texts: [lines], controls: [control])
        gtk_widget_set_valign(control, GTK_ALIGN_CENTER)
        whorl_set_accessible_label(control, title)
        connect()
    }

    func show(_ state: SwitchState) {
        isShowing = true
        defer { isShowing = false }
        let text = state.lines.map { DisplayText.clean($0, limit: 300) }.joined(separator: "\n")
        gtk_label_set_text(OpaquePointer(lines), text)
        gtk_widget_set_visible(lines, text.isEmpty ? 0 : 1)
        whorl_set_accessible_description(control, text)
        gtk_widget_set_sensitive(control, state.canChange ? 1 : 0)
        // The position that is shown, and the state behind it; one does not follow the other while it is changed.
        gtk_switch_set_active(OpaquePointer(control), state.isOn ? 1 : 0)
        gtk_switch_set_state(OpaquePointer(control), state.isOn ? 1 : 0)
    }

    private func connect() {
        let moved: Moved = { _, isOn, data in
            guard let data else { return 0 }
            let row = Unmanaged<SwitchRow>.fromOpaque(data).takeUnretainedValue()
            return MainActor.assumeIsolated { row.move(to: isOn != 0) } ? 1 : 0
        }
        // The page keeps this object as long as the widget exists.
        _ = g_signal_connect_data(
            control,
            "state-set",
            unsafeBitCast(moved, to: GCallback.self),
            Unmanaged.passUnretained(self).toOpaque(),
            nil,
            GConnectFlags(0)
        )
    }

    /// Returns whether the switch waits for the change.
    private func move(to isOn: Bool) -> Bool {
        guard !isShowing else { return false }
        change(isOn)
        return true
    }
}
