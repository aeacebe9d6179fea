// SPDX-License-Identifier: Apache-2.0

import CGTK
import Glibc
import MainThread
import PromptWindows
import WhorlFingerprint

/// The task for which the program is started.
enum LaunchTask: Sendable {
    /// Enrolls a finger in a window.
    case enroll(Finger)
    /// Shows the prompts of the session.
    case show(Rest)

    /// Parses the program's arguments; `nil` if they are invalid.
    init?(_ words: some Collection<String>) {
        let words = Array(words)
        switch (words.first, words.count) {
        case (nil, 0): self = .show(Rest(idle: Rest.usual, registration: nil))
        case ("enroll", 2):
            guard let finger = Finger(name: words[1]) else { return nil }
            self = .enroll(finger)
        case ("--idle", 2), ("--idle", 4):
            guard let seconds = Int(words[1]), (0...86_400).contains(seconds) else { return nil }
            if words.count == 2 {
                self = .show(Rest(idle: seconds, registration: nil))
            } else {
                guard words[2] == "--registration", let number = Int32(words[3]), number > 2 else {
                    return nil
                }
                self = .show(Rest(idle: seconds, registration: number))
            }
        default: return nil
        }
    }
}

/// The idle state of the agent: while no prompt is shown, a program without GTK waits in its process.
///
/// The process and its registration with the service stay the same. The registration's socket is passed from one
/// program to the other. Everything in the window program's memory is lost.
struct Rest: Sendable {
    /// The default time without a prompt before the agent becomes idle, in seconds.
    static let usual = 60

    /// The time without a prompt before the agent becomes idle, in seconds; 0 for never.
    var idle: Int
    /// The registration that the waiting program has passed back.
    let registration: Int32?

    /// The time without a prompt before the agent becomes idle.
    var time: Duration? { idle > 0 ? .seconds(idle) : nil }

    /// Runs the waiting program in this process.
    ///
    /// Returns only if it cannot be run.
    func begin(with registration: Int32) async {
        await withCheckedContinuation { failed in
            // On the main thread, whose signals are not blocked, because the program inherits the signal mask.
            onMainThread {
                wait(with: registration)
                failed.resume()
            }
        }
    }

    private func wait(with registration: Int32) {
        // The waiting program ends with the screen, as this one does.
        let screen = whorl_watch_screen()
        guard screen >= 0 else {
            return Program.write("Staying in memory: cannot watch the screen.")
        }
        var room = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        guard readlink("/proc/self/exe", &room, Int(PATH_MAX)) > 0 else { return }
        // The kernel marks a file that was replaced, such as by an upgrade. The new one is run then.
        var program = String(
            decoding: room.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) },
            as: UTF8.self
        )
        let mark = " (deleted)"
        if program.hasSuffix(mark) { program.removeLast(mark.count) }
        let words = [
            program + "-wait", "\(registration)", "\(screen)", program, "--idle", "\(idle)", "--registration",
            "\(registration)",
        ]
        guard whorl_hand_over(registration, screen) != 0 else { return }
        var pointers = words.map { strdup($0) }
        pointers.append(nil)
        execv(words[0], pointers)
        Program.write("The agent stays in memory: \(words[0]): \(String(cString: strerror(errno)))")
        for pointer in pointers { free(pointer) }
    }
}
