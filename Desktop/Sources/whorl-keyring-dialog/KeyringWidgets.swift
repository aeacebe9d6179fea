// SPDX-License-Identifier: Apache-2.0

import CGTK
import KeyringQuestion
import PromptWindows
import WhorlSupport

/// The widgets of the window.
///
/// All text from other programs is set as plain text, never as markup, without characters that hide or reorder others.
@MainActor
struct KeyringWidgets {
    private typealias KeyPressed =
        @convention(c) (OpaquePointer?, guint, guint, GdkModifierType, gpointer?) -> gboolean
    typealias Action = @MainActor @Sendable () -> Void

    private static let width: Int32 = 360
    private static let margin: Int32 = 24

    let password = PasswordField()
    let repetition = PasswordField()
    let proceed: Widget
    let cancel: Widget
    private let window: Widget = whorl_window_with_role(GTK_ACCESSIBLE_ROLE_DIALOG)
    private let choice: Widget = gtk_check_button_new()
    // GTK 4.8 has no function to announce text. Screen readers read changes of this role automatically. An empty text
    // is a space, so that the window does not change its size.
    private let complaint = label(" ", GTK_ACCESSIBLE_ROLE_ALERT)
    private let kind: KeyringQuestion.Kind

    init(_ question: KeyringQuestion) {
        kind = question.kind
        let proceedTitle = question.proceedTitle.isEmpty ? translated("Unlock") : question.proceedTitle
        let cancelTitle = question.cancelTitle.isEmpty ? translated("Cancel") : question.cancelTitle
        proceed = Self.button(DisplayText.clean(proceedTitle, limit: 40))
        cancel = Self.button(DisplayText.clean(cancelTitle, limit: 40))
        let box: Widget = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12)
        for widget in texts(question) + fields(question) + [buttons()] {
            gtk_box_append(box.of(GtkBox.self), widget)
        }
        for set in [
            gtk_widget_set_margin_top, gtk_widget_set_margin_bottom, gtk_widget_set_margin_start,
            gtk_widget_set_margin_end,
        ] { set(box, Self.margin) }
        let frame = window.of(GtkWindow.self)
        gtk_window_set_title(frame, translated("Keyring"))
        gtk_window_set_resizable(frame, 0)
        gtk_widget_set_size_request(window, Self.width, -1)
        gtk_window_set_child(frame, box)
    }

    private func texts(_ question: KeyringQuestion) -> [Widget] {
        let heading = question.message.isEmpty ? question.title : question.message
        let texts: [(String, Int, GtkAccessibleRole, String?)] = [
            (heading, 300, GTK_ACCESSIBLE_ROLE_HEADING, "title-4"),
            (question.details, 500, GTK_ACCESSIBLE_ROLE_LABEL, nil),
            (question.asker, 300, GTK_ACCESSIBLE_ROLE_LABEL, nil),
            (question.warning, 600, GTK_ACCESSIBLE_ROLE_ALERT, "warning"),
        ]
        return texts.compactMap { text, limit, role, style in
            let text = DisplayText.clean(text, limit: limit)
            return text.isEmpty ? nil : Self.label(text, role, style: style)
        }
    }

    private func fields(_ question: KeyringQuestion) -> [Widget] {
        var fields: [Widget] = []
        if kind != .confirmation {
            fields.append(Self.field(translated("Password"), password))
            if kind == .newPassword {
                fields.append(Self.field(translated("Repeat the password"), repetition))
            }
            fields.append(complaint)
        }
        let title = DisplayText.clean(question.choice, limit: 200)
        if !title.isEmpty {
            gtk_check_button_set_child(choice.of(GtkCheckButton.self), Self.label(title))
            gtk_check_button_set_active(choice.of(GtkCheckButton.self), question.isChosen ? 1 : 0)
            whorl_set_accessible_label(choice, title)
            fields.append(choice)
        } else if question.isChosen {
            gtk_check_button_set_active(choice.of(GtkCheckButton.self), 1)
        }
        return fields
    }

    private func buttons() -> Widget {
        let row: Widget = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12)
        gtk_box_append(row.of(GtkBox.self), cancel)
        gtk_box_append(row.of(GtkBox.self), proceed)
        gtk_box_set_homogeneous(row.of(GtkBox.self), 1)
        return row
    }

    /// Whether the checkbox is checked.
    var isChosen: Bool { gtk_check_button_get_active(choice.of(GtkCheckButton.self)) != 0 }

    /// Shows the window, with the focus on a widget where a stray Enter does no harm.
    func present() {
        _ = gtk_widget_grab_focus(kind == .confirmation ? cancel : password.text)
        gtk_window_present(window.of(GtkWindow.self))
    }

    func focusRepetition() { repetition.focus() }

    /// Reports a problem with what was typed.
    func complain(_ text: String) {
        gtk_label_set_text(OpaquePointer(complaint), text)
        clear()
        password.focus()
    }

    /// Clears the fields, whose memory GTK wipes (`GtkPasswordEntryBuffer`).
    func clear() { for field in [password, repetition] { field.clear() } }

    /// Calls a function when the window is closed, or Escape is pressed.
    func onClose(_ body: @escaping Action) {
        KeyringWidgets.close = body
        let closing: @convention(c) (Widget?, gpointer?) -> gboolean = { _, _ in
            MainActor.assumeIsolated { KeyringWidgets.close() }
            return 1
        }
        _ = g_signal_connect_data(
            window,
            "close-request",
            unsafeBitCast(closing, to: GCallback.self),
            nil,
            nil,
            GConnectFlags(0)
        )
        let pressed: KeyPressed = { _, key, _, _, _ in
            guard key == guint(GDK_KEY_Escape) else { return 0 }
            MainActor.assumeIsolated { KeyringWidgets.close() }
            return 1
        }
        let keys = gtk_event_controller_key_new()
        gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE)
        _ = g_signal_connect_data(
            UnsafeMutableRawPointer(keys),
            "key-pressed",
            unsafeBitCast(pressed, to: GCallback.self),
            nil,
            nil,
            GConnectFlags(0)
        )
        gtk_widget_add_controller(window, keys)
    }

    /// Called when the window is closed.
    private static var close: Action = {}

    /// Returns a password field with its name above it.
    private static func field(_ name: String, _ field: PasswordField) -> Widget {
        field.name(name)
        let box: Widget = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4)
        gtk_box_append(box.of(GtkBox.self), label(name))
        gtk_box_append(box.of(GtkBox.self), field.frame)
        return box
    }

    private static func label(
        _ text: String,
        _ role: GtkAccessibleRole = GTK_ACCESSIBLE_ROLE_LABEL,
        style: String? = nil,
        characters: Int32 = 36
    ) -> Widget {
        let widget: Widget = whorl_label_with_role(role)
        let label = OpaquePointer(widget)
        gtk_label_set_wrap(label, 1)
        gtk_label_set_wrap_mode(label, PANGO_WRAP_WORD_CHAR)
        gtk_label_set_xalign(label, 0)
        gtk_label_set_max_width_chars(label, characters)
        gtk_label_set_text(label, text)
        if let style { gtk_widget_add_css_class(widget, style) }
        return widget
    }

    /// Creates a button whose title wraps.
    private static func button(_ title: String) -> Widget {
        let button: Widget = gtk_button_new()
        let text = label(title, characters: 14)
        gtk_label_set_xalign(OpaquePointer(text), 0.5)
        gtk_label_set_justify(OpaquePointer(text), GTK_JUSTIFY_CENTER)
        gtk_button_set_child(button.of(GtkButton.self), text)
        whorl_set_accessible_label(button, title)
        return button
    }
}
