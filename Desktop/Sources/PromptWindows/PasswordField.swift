// SPDX-License-Identifier: Apache-2.0

package import CGTK

/// A password field whose text other programs cannot read over the accessibility bus.
///
/// With GTK 4.8, every program of the session can read what is typed into a `GtkPasswordEntry` there. A `GtkText` has
/// no accessible role and does not appear on that bus. Screen readers find the frame around it, which has the field's
/// name.
@MainActor
package struct PasswordField {
    /// The part that has the focus and the signals `activate` and `changed`.
    package let text: Widget
    /// The part that belongs in the window.
    package let frame: Widget

    /// Creates an empty field with a name for screen readers.
    package init(_ name: String = "") {
        // GTK wipes the memory of this buffer.
        let buffer = gtk_password_entry_buffer_new()
        text = gtk_text_new_with_buffer(buffer)
        g_object_unref(UnsafeMutableRawPointer(buffer))
        gtk_text_set_visibility(text.of(GtkText.self), 0)
        gtk_text_set_input_purpose(text.of(GtkText.self), GTK_INPUT_PURPOSE_PASSWORD)
        gtk_widget_set_hexpand(text, 1)
        frame = whorl_frame_of_password()
        gtk_box_append(frame.of(GtkBox.self), text)
        self.name(name)
    }

    /// Sets the name for screen readers.
    package func name(_ name: String) { whorl_set_accessible_label(frame, name) }

    /// Moves the keyboard's focus to the field.
    package func focus() { _ = gtk_widget_grab_focus(text) }

    /// Clears the field.
    package func clear() { gtk_editable_set_text(OpaquePointer(text), "") }
}
