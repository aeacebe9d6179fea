// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGTK
import Glibc
import PromptWindows
import WhorlSupport

/// The window in which users manage their fingers and passcode.
@main
enum Program {
    /// Runs GTK's loop on this thread, and calls the service on others, until the window is closed.
    static func main() {
        guard CommandLine.arguments.count == 1 else { fail("usage: whorl-settings", status: 64) }
        // The user types passcodes into this program.
        guard whorl_hide_memory() != 0 else { fail("Cannot protect the memory of this program.") }
        // The name for screen readers and window managers, which find the icon by it.
        g_set_prgname("whorl-settings")
        g_set_application_name("whorl-settings")
        // As for the prompt, the libraries of the graphics card would need a lot of memory and time.
        setenv("GSK_RENDERER", "cairo", 0)
        Translations.begin()
        guard gtk_init_check() != 0 else { fail("No display found.") }
        MainActor.assumeIsolated {
            Look.adopt()
            gtk_window_set_default_icon_name("whorl-settings")
            SettingsWindow.open()
        }
        g_main_loop_run(g_main_loop_new(nil, 0))
    }

    private static func fail(_ text: String, status: Int32 = 1) -> Never {
        let line = Array("whorl-settings: \(text)\n".utf8)
        _ = Glibc.write(STDERR_FILENO, line, line.count)
        exit(status)
    }
}
