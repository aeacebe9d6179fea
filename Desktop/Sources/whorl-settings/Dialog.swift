// SPDX-License-Identifier: Apache-2.0

import CGTK
import PromptWindows
import WhorlSupport

/// A window in front of the settings for one question.
///
/// Escape, the close button and *Cancel* close it. *Cancel* has the focus if nothing can be typed, so that a stray Enter
/// confirms nothing.
@MainActor
final class Dialog {
    private typealias KeyPressed =
        @convention(c) (OpaquePointer?, guint, guint, GdkModifierType, gpointer?) -> gboolean

    private let window: Widget = whorl_window_with_role(GTK_ACCESSIBLE_ROLE_DIALOG)
    private let title: String
    private var closed: Build.Action = {}

    /// Creates a dialog in front of a window.
    ///
    /// - Parameters:
    ///   - title: The question.
    ///   - parent: The window.
    init(_ title: String, over parent: Widget) {
        self.title = title
        let frame = window.of(GtkWindow.self)
        gtk_widget_set_size_request(window, 360, -1)
        gtk_window_set_title(frame, title)
        gtk_window_set_resizable(frame, 0)
        gtk_window_set_modal(frame, 1)
        gtk_window_set_transient_for(frame, parent.of(GtkWindow.self))
        closeOnEscape()
        connectSignal(window, "destroy") { self.closed() }
    }

    /// Shows the dialog.
    ///
    /// - Parameters:
    ///   - content: The widgets below the question.
    ///   - buttons: Additional buttons, next to *Cancel*. Their handlers keep this object alive while the window exists.
    ///   - focus: The widget that receives the first key; `nil` for *Cancel*.
    func present(_ content: [Widget], buttons: [Widget] = [], focus: Widget? = nil) {
        let cancel = Build.button(translated("Cancel")) { self.close() }
        let question = Build.label(title, GTK_ACCESSIBLE_ROLE_HEADING, style: "title-4")
        let row = Build.box(GTK_ORIENTATION_HORIZONTAL, [cancel] + buttons)
        gtk_box_set_homogeneous(row.of(GtkBox.self), 1)
        let box = Build.box(GTK_ORIENTATION_VERTICAL, [question] + content + [row])
        Build.margin(box, 18)
        gtk_window_set_child(window.of(GtkWindow.self), box)
        _ = gtk_widget_grab_focus(focus ?? cancel)
        gtk_window_present(window.of(GtkWindow.self))
    }

    /// Sets the function to call when the dialog is closed in any way.
    func onClose(_ closed: @escaping Build.Action) { self.closed = closed }

    func close() { gtk_window_destroy(window.of(GtkWindow.self)) }

    private func closeOnEscape() {
        let pressed: KeyPressed = { _, key, _, _, data in
            guard key == guint(GDK_KEY_Escape), let data else { return 0 }
            gtk_window_destroy(data.assumingMemoryBound(to: GtkWindow.self))
            return 1
        }
        let keys = gtk_event_controller_key_new()
        _ = g_signal_connect_data(
            UnsafeMutableRawPointer(keys),
            "key-pressed",
            unsafeBitCast(pressed, to: GCallback.self),
            window,
            nil,
            GConnectFlags(0)
        )
        gtk_widget_add_controller(window, keys)
    }
}
