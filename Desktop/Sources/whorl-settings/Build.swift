// SPDX-License-Identifier: Apache-2.0

import CGTK
import PromptWindows
import WhorlSupport

/// The widgets of which pages and dialogs are built.
///
/// All text is set as plain text, never as markup.
@MainActor
enum Build {
    typealias Action = @MainActor @Sendable () -> Void

    /// Creates a label whose lines wrap.
    static func label(
        _ text: String = "",
        _ role: GtkAccessibleRole = GTK_ACCESSIBLE_ROLE_LABEL,
        style: String? = nil
    ) -> Widget {
        let widget: Widget = whorl_label_with_role(role)
        let label = OpaquePointer(widget)
        gtk_label_set_wrap(label, 1)
        gtk_label_set_wrap_mode(label, PANGO_WRAP_WORD_CHAR)
        gtk_label_set_xalign(label, 0)
        // Windows that take their size from their texts stay narrow.
        gtk_label_set_max_width_chars(label, 40)
        gtk_label_set_text(label, text)
        if let style { gtk_widget_add_css_class(widget, style) }
        return widget
    }

    /// Creates a label that screen readers announce when its text changes.
    ///
    /// An empty status is a space, because a label that is shown later is not announced.
    static func status() -> Widget { label(" ", GTK_ACCESSIBLE_ROLE_STATUS) }

    /// Changes the text of a status.
    static func set(_ status: Widget, _ text: String) {
        gtk_label_set_text(OpaquePointer(status), text.isEmpty ? " " : DisplayText.clean(text, limit: 500))
    }

    /// Creates a button.
    ///
    /// - Parameters:
    ///   - title: The visible title.
    ///   - subject: The thing that the button is about, which only screen readers need to hear.
    ///   - action: Called when the button is pressed; `nil` to connect the button later.
    /// - Returns: The button.
    static func button(_ title: String, about subject: String? = nil, _ action: Action? = nil) -> Widget {
        let button: Widget = gtk_button_new()
        let text = label(title)
        gtk_label_set_xalign(OpaquePointer(text), 0.5)
        gtk_label_set_justify(OpaquePointer(text), GTK_JUSTIFY_CENTER)
        gtk_button_set_child(button.of(GtkButton.self), text)
        whorl_set_accessible_label(button, subject.map { "\(title): \($0)" } ?? title)
        if let action { connectSignal(button, "clicked", action) }
        return button
    }

    /// Creates a box that shows widgets below or beside each other.
    static func box(_ orientation: GtkOrientation, spacing: Int32 = 12, _ widgets: [Widget]) -> Widget {
        let box: Widget = gtk_box_new(orientation, spacing)
        for widget in widgets { gtk_box_append(box.of(GtkBox.self), widget) }
        return box
    }

    /// Sets the same margin on all sides.
    static func margin(_ widget: Widget, _ size: Int32) {
        for set in [
            gtk_widget_set_margin_top, gtk_widget_set_margin_bottom, gtk_widget_set_margin_start,
            gtk_widget_set_margin_end,
        ] { set(widget, size) }
    }

    /// Creates a row of a list: a title and lines below it, with a widget before and buttons after them.
    static func row(
        _ title: String,
        _ lines: [String],
        before: Widget? = nil,
        after buttons: [Widget] = []
    ) -> Widget {
        for button in buttons {
            gtk_widget_set_valign(button, GTK_ALIGN_CENTER)
            // Beside a text that can wrap, the button gets the room for its title.
            gtk_label_set_wrap(OpaquePointer(gtk_button_get_child(button.of(GtkButton.self))), 0)
        }
        let texts = lines.filter { !$0.isEmpty }.map { label($0) }
        return row(title, texts: texts, before: before, controls: buttons)
    }

    /// Creates a row of a list: a title and labels below it, with widgets before and after them.
    static func row(
        _ title: String,
        texts: [Widget],
        before: Widget? = nil,
        controls: [Widget]
    ) -> Widget {
        let texts = box(GTK_ORIENTATION_VERTICAL, spacing: 2, [label(title, style: "heading")] + texts)
        gtk_widget_set_hexpand(texts, 1)
        gtk_widget_set_valign(texts, GTK_ALIGN_CENTER)
        let content = box(GTK_ORIENTATION_HORIZONTAL, [before].compactMap(\.self) + [texts] + controls)
        margin(content, 8)
        let row: Widget = gtk_list_box_row_new()
        gtk_list_box_row_set_child(row.of(GtkListBoxRow.self), content)
        gtk_list_box_row_set_activatable(row.of(GtkListBoxRow.self), 0)
        // The keyboard goes to the controls directly.
        gtk_widget_set_focusable(row, 0)
        whorl_set_accessible_label(row, title)
        return row
    }

    /// Returns a field with its name above it.
    ///
    /// Themes draw the names inside of empty fields with too little contrast.
    static func field(_ name: String, _ field: Widget) -> Widget {
        whorl_set_accessible_label(field, name)
        return box(GTK_ORIENTATION_VERTICAL, spacing: 4, [label(name), field])
    }

    /// Returns a password field with its name above it.
    static func field(_ name: String, _ field: PasswordField) -> Widget {
        Self.field(name, field.frame)
    }

    /// Creates an empty list.
    static func list() -> Widget {
        let list: Widget = gtk_list_box_new()
        gtk_list_box_set_selection_mode(OpaquePointer(list), GTK_SELECTION_NONE)
        gtk_widget_add_css_class(list, "boxed-list")
        gtk_widget_set_focusable(list, 0)
        return list
    }

    /// Replaces the rows of a list, which is hidden if there are none.
    static func fill(_ list: Widget, _ rows: [Widget]) {
        while let child = gtk_widget_get_first_child(list) {
            gtk_list_box_remove(OpaquePointer(list), child)
        }
        for row in rows { gtk_list_box_append(OpaquePointer(list), row) }
        gtk_widget_set_visible(list, rows.isEmpty ? 0 : 1)
    }

    /// Creates a page, which can be scrolled if it is higher than the window.
    static func page(_ widgets: [Widget]) -> Widget {
        let content = box(GTK_ORIENTATION_VERTICAL, widgets)
        margin(content, 18)
        let page: Widget = gtk_scrolled_window_new()
        gtk_scrolled_window_set_child(OpaquePointer(page), content)
        gtk_scrolled_window_set_policy(OpaquePointer(page), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_widget_set_vexpand(page, 1)
        return page
    }

    /// Returns a text that begins with a capital letter.
    nonisolated static func capitalized(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst()
    }
}
