// SPDX-License-Identifier: Apache-2.0

import CWhorlGLib
import Foundation
import LocalAuthentication

/// A program with a GLib main loop of its own, as GTK programs have one: it touches Whorl first, then starts its loop, and
/// evaluates from inside the loop.
///
/// Its argument says which loop: `application` (`g_application_run()`), `loop` (`g_main_loop_run()`), or `early`, which
/// begins the evaluation before `g_application_run()`, and so takes the context first. It prints a line for each step and ends with 0 after a match.
@main enum MainLoopProbe {
    static func main() {
        let isReady = LAContext().canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil)
        say("ready \(isReady)")
        switch CommandLine.arguments.dropFirst().first {
        case "application": exit(runApplication())
        case "loop": runLoop()
        case "early":
            evaluate()
            // Whorl's thread has the context while it dispatches, and g_application_run() asks for it once.
            while g_main_context_acquire(nil) == 0 { Thread.sleep(forTimeInterval: 0.001) }
            exit(runApplication(evaluates: false))
        default: exit(64)
        }
    }

    private static func runApplication(evaluates: Bool = true) -> CInt {
        // G_APPLICATION_NON_UNIQUE: it asks for no bus.
        let application = g_application_new(nil, GApplicationFlags(rawValue: 1 << 5))
        let activate: @convention(c) (gpointer?, gpointer?) -> Void = { application, evaluates in
            MainLoopProbe.say("activated")
            g_application_hold(application?.assumingMemoryBound(to: GApplication.self))
            if evaluates != nil { MainLoopProbe.evaluate() }
        }
        g_signal_connect_data(
            application,
            "activate",
            unsafeBitCast(activate, to: GCallback.self),
            evaluates ? UnsafeMutableRawPointer(bitPattern: 1) : nil,
            nil,
            GConnectFlags(rawValue: 0)
        )
        let status = g_application_run(application, 0, nil)
        // Only a program that could not start comes here.
        say("ended \(status)")
        return 3
    }

    private static func runLoop() -> Never {
        let source = g_idle_source_new()
        g_source_set_callback(
            source,
            { _ in
                MainLoopProbe.say("activated")
                MainLoopProbe.evaluate()
                return gboolean(0)
            },
            nil,
            nil
        )
        g_source_attach(source, nil)
        g_main_loop_run(g_main_loop_new(nil, gboolean(0)))
        exit(3)
    }

    /// An evaluation ends with its context.
    private static let context = LAContext()

    static func evaluate() {
        let policy = LAPolicy.deviceOwnerAuthenticationWithBiometrics
        say("can \(context.canEvaluatePolicy(policy, error: nil))")
        say("asks")
        context.evaluatePolicy(policy, localizedReason: "look") { isOwner, error in
            say(isOwner ? "owner" : "error \((error as? LAError)?.errorCode ?? 0)")
            exit(isOwner ? 0 : 1)
        }
    }

    static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
