// SPDX-License-Identifier: Apache-2.0

import CKioskGTK
import Glibc
import Kiosk

/// The widgets of the screen.
///
/// All text is set as plain text, never as markup.
@MainActor
struct Widgets {
    private typealias KeyPressed =
        @convention(c) (OpaquePointer?, guint, guint, GdkModifierType, gpointer?) -> gboolean

    private let window: Widget = gtk_window_new()
    private let title = label(GTK_ACCESSIBLE_ROLE_LABEL, "kiosk-title")
    private let person = label(GTK_ACCESSIBLE_ROLE_LABEL, "kiosk-person")
    // Screen readers read changes of these roles automatically.
    private let sentence = label(GTK_ACCESSIBLE_ROLE_STATUS, "kiosk-sentence")
    private let reason = label(GTK_ACCESSIBLE_ROLE_ALERT, "kiosk-reason")
    private let name: Widget = gtk_entry_new()
    private let password: Widget = gtk_password_entry_new()
    private let help = label(GTK_ACCESSIBLE_ROLE_LABEL, "kiosk-help")

    init() {
        let box: Widget = gtk_box_new(GTK_ORIENTATION_VERTICAL, 24)
        for widget in [title, person, sentence, name, password, reason, help] {
            gtk_box_append(box.of(GtkBox.self), widget)
        }
        gtk_widget_set_valign(box, GTK_ALIGN_CENTER)
        gtk_widget_set_halign(box, GTK_ALIGN_CENTER)
        gtk_entry_set_max_length(name.of(GtkEntry.self), 100)
        gtk_editable_set_alignment(OpaquePointer(name), 0.5)
        gtk_window_set_title(window.of(GtkWindow.self), "Kiosk")
        gtk_window_set_decorated(window.of(GtkWindow.self), 0)
        gtk_window_set_child(window.of(GtkWindow.self), box)
        gtk_window_fullscreen(window.of(GtkWindow.self))
        style()
    }

    private func style() {
        let sheet = """
            .kiosk-title { font-size: 40px; font-weight: bold; }
            .kiosk-person { font-size: 28px; }
            .kiosk-sentence, entry, .kiosk-reason { font-size: 24px; }
            .kiosk-reason { color: @error_color; }
            .kiosk-help { font-size: 16px; opacity: 0.7; }
            """
        let provider = gtk_css_provider_new()
        gtk_css_provider_load_from_data(provider, sheet, -1)
        gtk_style_context_add_provider_for_display(
            gtk_widget_get_display(window),
            OpaquePointer(provider),
            guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION)
        )
    }

    /// Connects user input to the greeter.
    func connect(to greeter: Greeter) {
        kiosk_greeter.connect(name, "activate") { greeter.submitName() }
        kiosk_greeter.connect(password, "activate") { greeter.submitAnswer() }
        kiosk_greeter.connect(name, "changed") { greeter.keyCame() }
        kiosk_greeter.connect(password, "changed") { greeter.keyCame() }
        let closing: @convention(c) (Widget?, gpointer?) -> gboolean = { _, _ in 1 }
        _ = g_signal_connect_data(
            window,
            "close-request",
            unsafeBitCast(closing, to: GCallback.self),
            nil,
            nil,
            GConnectFlags(0)
        )
        // The compositor sends keys to the window only after it has shown it.
        let activated: @convention(c) (gpointer?, OpaquePointer?, gpointer?) -> Void = { window, _, _ in
            guard let window, gtk_window_is_active(window.assumingMemoryBound(to: GtkWindow.self)) != 0 else {
                return
            }
            Program.write("keys=taken")
        }
        _ = g_signal_connect_data(
            window,
            "notify::is-active",
            unsafeBitCast(activated, to: GCallback.self),
            nil,
            nil,
            GConnectFlags(0)
        )
        let pressed: KeyPressed = { _, key, _, _, _ in
            switch key {
            case guint(GDK_KEY_Escape): MainActor.assumeIsolated { Greeter.running?.escape() }
            case guint(GDK_KEY_F2): MainActor.assumeIsolated { Greeter.running?.openTill() }
            default: return 0
            }
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

    /// Shows the content, with the configured title.
    func show(_ screen: Screen, title text: String) {
        set(title, text)
        set(person, screen.person)
        set(
            sentence,
            screen.page == .ask ? "Type your name or badge number, then press Enter." : screen.sentence
        )
        set(reason, screen.reason)
        set(help, screen.help)
        gtk_widget_set_visible(name, screen.takesNames || screen.page == .question ? 1 : 0)
        gtk_widget_set_visible(password, screen.page == .password ? 1 : 0)
        kiosk_set_accessible_label(name, screen.takesNames ? "Name or badge number" : screen.sentence)
        kiosk_set_accessible_label(password, screen.sentence)
    }

    /// Clears the fields, and moves the focus to the visible one.
    func beginTyping(on page: Screen.Page) {
        clear()
        _ = gtk_widget_grab_focus(page == .password ? password : name)
    }

    func present() { gtk_window_present(window.of(GtkWindow.self)) }

    /// Clears the fields.
    ///
    /// GTK wipes the memory of the password field (`GtkPasswordEntryBuffer`).
    func clear() {
        for field in [name, password] { gtk_editable_set_text(OpaquePointer(field), "") }
    }

    var typedName: String {
        gtk_editable_get_text(OpaquePointer(name)).map { String(cString: $0) } ?? ""
    }

    /// Returns the typed text as an answer to PAM's question; `nil` if it is too long for greetd.
    func takeAnswer(on page: Screen.Page) -> SecretText? {
        defer { clear() }
        guard let text = gtk_editable_get_text(OpaquePointer(page == .password ? password : name)) else {
            return nil
        }
        let count = Int(strlen(text))
        guard count <= 1024 else { return nil }
        return SecretText(UnsafeRawBufferPointer(start: text, count: count))
    }

    private func set(_ label: Widget, _ text: String) {
        gtk_widget_set_visible(label, text.isEmpty ? 0 : 1)
        let label = OpaquePointer(label)
        // Unchanged text is not announced again.
        if String(cString: gtk_label_get_text(label)) != text { gtk_label_set_text(label, text) }
    }

    private static func label(_ role: GtkAccessibleRole, _ style: String) -> Widget {
        let widget: Widget = kiosk_label_with_role(role)
        let label = OpaquePointer(widget)
        gtk_label_set_wrap(label, 1)
        gtk_label_set_wrap_mode(label, PANGO_WRAP_WORD_CHAR)
        gtk_label_set_justify(label, GTK_JUSTIFY_CENTER)
        gtk_label_set_max_width_chars(label, 48)
        gtk_widget_add_css_class(widget, style)
        return widget
    }
}

extension Screen {
    /// The keys that have other functions than typing.
    fileprivate var help: String {
        switch page {
        case .ask, .pause, .farewell, .broken: ""
        case .arrived: offersTill ? "F2 opens the till." : ""
        case .wait, .question, .password, .leaving: "Esc goes back."
        }
    }
}
