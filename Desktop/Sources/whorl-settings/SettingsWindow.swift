// SPDX-License-Identifier: Apache-2.0

import CGTK
import Glibc
import PromptWindows
import WhorlSupport

/// A part of the window, with its own button at the top.
@MainActor
protocol Page: AnyObject {
    var title: String { get }
    var widget: Widget { get }
    /// Reads what the page shows from the service.
    func reload()
}

/// The window, with one page visible at a time.
///
/// It stores nothing: each page reads what it shows from the service whenever it is opened.
@MainActor
final class SettingsWindow {
    private static var shown: SettingsWindow?
    private static let size: (width: Int32, height: Int32) = (480, 600)

    private let window: Widget
    private let pages: [any Page]

    static func open() {
        let window = SettingsWindow()
        shown = window
        window.pages.first?.reload()
        gtk_window_present(window.window.of(GtkWindow.self))
    }

    private init() {
        window = whorl_window_with_role(GTK_ACCESSIBLE_ROLE_WINDOW)
        showPrompts(over: window)
        let session = Session()
        pages = [
            FingersPage(session, window), PasscodePage(session, window), UsePage(session, window),
            AppsPage(session, window), HistoryPage(session), HealthPage(session),
        ]
        let frame = window.of(GtkWindow.self)
        gtk_window_set_title(frame, translated("Fingerprints"))
        gtk_window_set_default_size(frame, Self.size.width, Self.size.height)
        let content = Build.box(GTK_ORIENTATION_VERTICAL, spacing: 0, [switcher()] + pages.map(\.widget))
        gtk_window_set_child(frame, content)
        // Unlike the pages of a GtkStack, hidden ones are hidden from screen readers, too.
        for page in pages.dropFirst() { gtk_widget_set_visible(page.widget, 0) }
        connectSignal(window, "destroy") { exit(0) }
    }

    /// Creates the buttons that select a page.
    private func switcher() -> Widget {
        var first: UnsafeMutablePointer<GtkToggleButton>?
        let buttons = pages.map { page in
            let button: Widget = gtk_toggle_button_new()
            let label = Build.label(page.title)
            gtk_label_set_xalign(OpaquePointer(label), 0.5)
            gtk_label_set_justify(OpaquePointer(label), GTK_JUSTIFY_CENTER)
            gtk_button_set_child(button.of(GtkButton.self), label)
            whorl_set_accessible_label(button, page.title)
            gtk_widget_set_hexpand(button, 1)
            let toggle = button.of(GtkToggleButton.self)
            if first == nil {
                first = toggle
                gtk_toggle_button_set_active(toggle, 1)
            } else {
                gtk_toggle_button_set_group(toggle, first)
            }
            connectSignal(button, "toggled") { [weak self, weak page] in
                guard let self, let page, gtk_toggle_button_get_active(toggle) != 0 else { return }
                show(page)
            }
            return button
        }
        // In one row, the titles would be broken in the middle of words.
        let half = (buttons.count + 1) / 2
        let rows = [buttons.prefix(half), buttons.dropFirst(half)].map { buttons in
            let row = Build.box(GTK_ORIENTATION_HORIZONTAL, spacing: 0, Array(buttons))
            gtk_box_set_homogeneous(row.of(GtkBox.self), 1)
            gtk_widget_add_css_class(row, "linked")
            return row
        }
        let box = Build.box(GTK_ORIENTATION_VERTICAL, spacing: 6, rows)
        Build.margin(box, 12)
        return box
    }

    private func show(_ page: any Page) {
        for other in pages { gtk_widget_set_visible(other.widget, other === page ? 1 : 0) }
        page.reload()
    }
}
