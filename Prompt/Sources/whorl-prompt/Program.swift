// SPDX-License-Identifier: Apache-2.0

import CGTK
import Glibc
import WhorlFingerprint
import WhorlRemote
import WhorlSupport

/// The desktop's agent: it shows the prompts of its login session's programs in a window.
@main
enum Program {
    /// Runs GTK's loop on this thread, and speaks to the service on others, until the process is told to end.
    ///
    /// With `enroll FINGER` it enrolls a finger in a window, and ends.
    static func main() {
        let finger = finger
        guard whorl_hide_memory() != 0 else { fail("The system does not keep this program's memory apart.") }
        // The name by which screen readers and window managers know the program.
        g_set_prgname("whorl-prompt")
        g_set_application_name("whorl-prompt")
        // A small window is drawn without the graphics card, whose libraries need much memory and time.
        setenv("GSK_RENDERER", "cairo", 0)
        Translations.begin()
        guard gtk_init_check() != 0 else { fail("There is no display on which prompts could be shown.") }
        if let finger {
            Task.detached { await EnrollmentWindow.enroll(finger) }
        } else {
            Task.detached { await showPrompts() }
        }
        let loop = g_main_loop_new(nil, 0)
        g_main_loop_run(loop)
    }

    /// The finger that is to be enrolled; `nil` where the program is the session's agent.
    private static var finger: Finger? {
        let words = CommandLine.arguments.dropFirst()
        if words.isEmpty { return nil }
        guard words.count == 2, words.first == "enroll", let name = words.last,
            let finger = Finger(name: name)
        else { fail("usage: whorl-prompt [enroll FINGER]") }
        return finger
    }

    /// Shows prompts, also after the service was restarted.
    private static func showPrompts() async {
        let presenter = WindowPresenter()
        while true {
            do throws(SessionPrompts.Fault) {
                try await SessionPrompts.show(on: presenter) {
                    write("The prompts of this session are shown here.")
                }
            } catch {
                switch error {
                case .taken: fail("Another program shows the prompts of this session already.")
                case .notAllowed: fail("The service's configuration lets no agent show prompts.")
                case .cancelled: exit(0)
                case .unanswered: break
                }
            }
            // Nothing cancels this task; an earlier end of the wait only asks sooner.
            try? await Task.sleep(for: .seconds(1))
        }
    }

    private static func fail(_ text: String) -> Never {
        write(text)
        exit(1)
    }

    static func write(_ text: String) {
        let line = Array("whorl-prompt: \(text)\n".utf8)
        _ = Glibc.write(STDERR_FILENO, line, line.count)
    }
}
