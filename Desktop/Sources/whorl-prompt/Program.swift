// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGTK
import Glibc
import PromptWindows
import Synchronization
import WhorlFingerprint
import WhorlRemote
import WhorlService
import WhorlSupport

/// The desktop's agent, which shows the prompts of programs in its login session in a window.
@main
enum Program {
    /// Runs GTK's loop on this thread, and communicates with the service on others, until the process is terminated.
    static func main() {
        guard let task = LaunchTask(CommandLine.arguments.dropFirst()) else {
            fail("usage: whorl-prompt [--idle SECONDS] | enroll FINGER", status: 64)
        }
        guard whorl_hide_memory() != 0 else { fail("Cannot protect the memory of this program.") }
        // No program that GTK starts gets the registration.
        if case .show(let rest) = task, let socket = rest.registration {
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        }
        // The program name for screen readers and window managers.
        g_set_prgname("whorl-prompt")
        g_set_application_name("whorl-prompt")
        // A small window is drawn without the graphics card, whose libraries need a lot of memory and time.
        setenv("GSK_RENDERER", "cairo", 0)
        Translations.begin()
        guard gtk_init_check() != 0 else { fail("No display found.") }
        MainActor.assumeIsolated { Look.adopt() }
        switch task {
        case .enroll(let finger): MainActor.assumeIsolated { enroll(finger) }
        case .show(let rest): Task.detached { await showPrompts(rest) }
        }
        let loop = g_main_loop_new(nil, 0)
        g_main_loop_run(loop)
    }

    /// Enrolls a finger in a window and ends the process, with status 0 if it was enrolled and 1 if not.
    @MainActor
    private static func enroll(_ finger: Finger) {
        EnrollmentWindow.enroll(
            NewFinger(finger, isGuided: true),
            for: ApplicationID(rawValue: "io.whorl.prompt"),
            onResult: { outcome in
                if case .failure(let failure) = outcome { write(failure.message + " " + failure.recovery) }
            },
            onEnd: { isEnrolled in exit(isEnrolled ? 0 : 1) }
        )
    }

    /// Shows prompts, even after a restart of the service.
    private static func showPrompts(_ rest: Rest) async {
        var rest = rest
        let presenter = WindowPresenter()
        var registration = rest.registration
        let attempts = Attempts()
        while true {
            do throws(ServiceError) {
                let quiet = try await SessionPrompts.show(
                    on: presenter,
                    from: registration,
                    untilQuietFor: rest.time,
                    // Only this process has the list of programs that the user refused.
                    if: { !presenter.hasRefused }
                ) {
                    attempts.begin()
                    write("Showing this session's prompts.")
                }
                await rest.begin(with: quiet)
                rest.idle = 0
                registration = quiet
            } catch {
                registration = nil
                switch error.code {
                case .agentTaken, .agentNotAllowed: fail(error.message, status: 3)
                case .appCancel: exit(0)
                default: break
                }
                // This task is never canceled. If the wait ended early, the next attempt would only be earlier.
                try? await Task.sleep(for: attempts.pause())
            }
        }
    }

    private static func fail(_ text: String, status: Int32 = 1) -> Never {
        write(text)
        exit(status)
    }

    static func write(_ text: String) {
        let line = Array("whorl-prompt: \(text)\n".utf8)
        _ = Glibc.write(STDERR_FILENO, line, line.count)
    }
}

/// The attempts to reach a service that does not respond, at increasing intervals.
private final class Attempts: Sendable {
    private let seconds = Mutex(1)

    /// Resets the interval because the service has responded.
    func begin() { seconds.withLock { $0 = 1 } }

    /// Returns the pause before the next attempt, from one second up to half a minute.
    func pause() -> Duration {
        seconds.withLock { seconds in
            defer { seconds = min(seconds * 2, 30) }
            return .seconds(seconds)
        }
    }
}
