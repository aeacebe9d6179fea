// SPDX-License-Identifier: Apache-2.0

import CGTK
import WhorlSecretMemory
import WhorlService
import WhorlSupport

/// The widgets of the window.
///
/// All text from outside is set as plain text, never as markup. Colors, text direction and scale are those of the theme
/// and the toolkit.
@MainActor
struct PromptWidgets {
    private typealias KeyPressed =
        @convention(c) (OpaquePointer?, guint, guint, GdkModifierType, gpointer?) -> gboolean

    private static let width: Int32 = 320
    private static let margin: Int32 = 24

    private let window: Widget
    private let icon: Widget = whorl_image_without_role()
    private let asker = label(GTK_ACCESSIBLE_ROLE_LABEL, "title-4", characters: 20)
    private let askerID = label(GTK_ACCESSIBLE_ROLE_LABEL)
    private let reason = label(GTK_ACCESSIBLE_ROLE_LABEL)
    private let purpose = label(GTK_ACCESSIBLE_ROLE_LABEL)
    private let warning = label(GTK_ACCESSIBLE_ROLE_LABEL, "warning")
    private let drawing = FingerprintDrawing.make()
    // GTK 4.8 has no function to announce text. Screen readers read changes of these roles automatically.
    private let status = label(GTK_ACCESSIBLE_ROLE_STATUS)
    private let hint = label(GTK_ACCESSIBLE_ROLE_ALERT)
    private let passcode = PasswordField()
    private let fallback: Widget = button()
    private let cancel: Widget = button()
    private let refuse: Widget = button()

    init() {
        window = whorl_window_with_role(GTK_ACCESSIBLE_ROLE_DIALOG)
        let box: Widget = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12)
        for widget in [
            icon, asker, askerID, reason, purpose, warning, drawing, status, hint, passcode.frame, fallback,
            cancel,
            refuse,
        ] {
            gtk_box_append(box.of(GtkBox.self), widget)
        }
        for set in [
            gtk_widget_set_margin_top, gtk_widget_set_margin_bottom, gtk_widget_set_margin_start,
            gtk_widget_set_margin_end,
        ] { set(box, Self.margin) }
        let frame = window.of(GtkWindow.self)
        gtk_window_set_title(frame, translated("Fingerprint"))
        gtk_window_set_resizable(frame, 0)
        gtk_widget_set_size_request(window, Self.width, -1)
        gtk_window_set_child(frame, box)
        passcode.name(translated("Passcode"))
        connect()
    }

    private func connect() {
        on(cancel, "clicked") { $0.cancel() }
        on(fallback, "clicked") { $0.fallback() }
        on(refuse, "clicked") { $0.refuse() }
        on(passcode.text, "activate") { $0.submit() }
        on(passcode.text, "changed") { $0.typed() }
        let closing: @convention(c) (Widget?, gpointer?) -> gboolean = { _, _ in
            MainActor.assumeIsolated { PromptWindow.shown?.cancel() }
            return 1  // The window goes when the service has been told.
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
            MainActor.assumeIsolated { PromptWindow.shown?.cancel() }
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

    /// Shows the content.
    func show(_ content: PromptContent) {
        show(content.entry)
        set(asker, content.asker)
        set(askerID, content.askerID)
        set(reason, content.reason)
        set(purpose, content.purpose)
        set(warning, content.warning)
        set(status, content.status)
        // An empty hint is shown as a space, because screen readers announce a changed label but not a new one. The
        // window also does not change its size while the user is about to press a button.
        set(hint, content.hint.isEmpty ? " " : content.hint)
        gtk_widget_set_visible(drawing, content.prompt.parts.contains(.finger) ? 1 : 0)
        gtk_widget_queue_draw(drawing)
        whorl_set_accessible_label(
            drawing,
            translated("Fingerprint, %1$@ percent", with: String(Int(content.filled * 100)))
        )
        gtk_widget_set_visible(passcode.frame, content.showsPasscode ? 1 : 0)
        gtk_widget_set_sensitive(passcode.frame, content.takesPasscode ? 1 : 0)
        gtk_widget_set_visible(fallback, content.fallbackTitle == nil ? 0 : 1)
        title(fallback, content.fallbackTitle ?? "")
        title(cancel, content.cancelTitle)
        title(refuse, translated("Not This Program"))
        gtk_widget_set_visible(cancel, content.isOver ? 0 : 1)
        gtk_widget_set_visible(refuse, content.isOver || content.count < 2 ? 0 : 1)
    }

    /// Shows the icon of a program's package, or the same icon for all others.
    private func show(_ entry: AskerEntry?) {
        let image = OpaquePointer(icon)
        gtk_image_set_from_icon_name(image, "application-x-executable-symbolic")
        gtk_image_set_pixel_size(image, 32)
        guard let picture = entry?.icon, let bytes = g_bytes_new(picture, gsize(picture.count)) else {
            return
        }
        defer { g_bytes_unref(bytes) }
        guard let texture = gdk_texture_new_from_bytes(bytes, nil) else { return }
        defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
        gtk_image_set_from_paintable(image, texture)
        gtk_image_set_pixel_size(image, 64)
    }

    /// Shows the window, with the focus on a widget where Enter does no harm.
    func present(over parent: Widget?, focusesPasscode: Bool) {
        if let parent {
            gtk_window_set_transient_for(window.of(GtkWindow.self), parent.of(GtkWindow.self))
            gtk_window_set_modal(window.of(GtkWindow.self), 1)
        }
        _ = gtk_widget_grab_focus(focusesPasscode ? passcode.text : cancel)
        gtk_window_present(window.of(GtkWindow.self))
    }

    func shake() { Shake.begin(drawing) }

    func focusPasscode() { passcode.focus() }

    func destroy() {
        clearPasscode()
        gtk_window_destroy(window.of(GtkWindow.self))
    }

    func takePasscode() -> SecretBytes? { passcode.text.takePasscode() }

    private func clearPasscode() { passcode.clear() }

    private func set(_ label: Widget, _ text: String) {
        gtk_widget_set_visible(label, text.isEmpty ? 0 : 1)
        let label = OpaquePointer(label)
        // Unchanged text is not announced again.
        if String(cString: gtk_label_get_text(label)) != text { gtk_label_set_text(label, text) }
    }

    private func title(_ button: Widget, _ text: String) {
        gtk_label_set_text(OpaquePointer(gtk_button_get_child(button.of(GtkButton.self))), text)
        whorl_set_accessible_label(button, text)
    }

    private func on(
        _ widget: Widget,
        _ signal: String,
        _ body: @escaping @MainActor @Sendable (PromptWindow) -> Void
    ) {
        connectSignal(widget, signal) { if let window = PromptWindow.shown { body(window) } }
    }

    /// Creates a label with a fixed line width in characters, so that the window keeps its width.
    private static func label(
        _ role: GtkAccessibleRole,
        _ style: String? = nil,
        characters: Int32 = 25
    ) -> Widget {
        let widget: Widget = whorl_label_with_role(role)
        let label = OpaquePointer(widget)
        gtk_label_set_wrap(label, 1)
        gtk_label_set_wrap_mode(label, PANGO_WRAP_WORD_CHAR)
        gtk_label_set_justify(label, GTK_JUSTIFY_CENTER)
        gtk_label_set_max_width_chars(label, characters)
        if let style { gtk_widget_add_css_class(widget, style) }
        return widget
    }

    /// Creates a button whose title wraps.
    private static func button() -> Widget {
        let button: Widget = gtk_button_new()
        gtk_button_set_child(button.of(GtkButton.self), label(GTK_ACCESSIBLE_ROLE_LABEL))
        return button
    }
}
