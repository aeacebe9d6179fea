// SPDX-License-Identifier: Apache-2.0

import CGTK

/// The colors and shapes of the window, which are those of the desktop.
@MainActor
package enum Look {
    /// Uses libadwaita's style if that library is installed, and otherwise GTK's own theme.
    ///
    /// libadwaita follows the desktop's settings for dark style and high contrast.
    package static func adopt() {
        whorl_adopt_adwaita()
        // The themes' own colors for warnings have a contrast of 4.3:1 or less on a light background; text requires
        // 4.5:1 (WCAG 2.1, AA).
        let rules = "label.warning { color: mix(@warning_color, @theme_fg_color, 0.5); }"
        let provider = gtk_css_provider_new()
        gtk_css_provider_load_from_data(provider, rules, -1)
        gtk_style_context_add_provider_for_display(
            gdk_display_get_default(),
            OpaquePointer(provider),
            guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION)
        )
        g_object_unref(provider)
    }
}
