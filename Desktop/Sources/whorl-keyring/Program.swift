// SPDX-License-Identifier: Apache-2.0

import CGLib
import Glibc
import WhorlSupport

/// The prompter of the session's keyring, which unlocks it with a touch.
///
/// It stays in memory with the session. Windows belong to other programs: the session's agent shows the prompt for a
/// touch, and a dialog is started for each password that must be typed.
@main
enum Program {
    /// The exit status if another prompter does not give up its name.
    private static let taken: Int32 = 3

    /// Runs GLib's loop on this thread, and calls the service on others, until the process is terminated.
    static func main() {
        guard let options = Options(CommandLine.arguments.dropFirst()) else {
            fail("usage: whorl-keyring \(Options.usage)", status: 64)
        }
        guard whorl_hide_memory() != 0 else { fail("Cannot protect the memory of this program.") }
        signal(SIGPIPE, SIG_IGN)
        Translations.begin()
        MainActor.assumeIsolated { start(options) }
        g_main_loop_run(g_main_loop_new(nil, 0))
    }

    @MainActor
    private static func start(_ options: Options) {
        let session: Bus
        do throws(BusFault) {
            session = try Bus(G_BUS_TYPE_SESSION)
        } catch {
            fail("No session bus found: \(error.message)")
        }
        let prompter = Prompter(session, options)
        do throws(BusFault) {
            try PrompterObject.serve(prompter, on: session)
        } catch {
            fail("Cannot serve the keyring's prompts: \(error.message)")
        }
        do throws(BusFault) {
            guard try BusName.take(PrompterObject.name, on: session) else {
                fail("Another program shows the keyring's prompts and cannot be replaced.", status: taken)
            }
        } catch {
            fail("Cannot take over the keyring's prompts: \(error.message)")
        }
        BusName.onLoss(of: PrompterObject.name, on: session) {
            fail("Another program has taken over the keyring's prompts.", status: taken)
        }
        onSignals(prompter, session)
        prompter.rest()
        write("Showing the keyring's prompts.")
    }

    @MainActor
    private static func onSignals(_ prompter: Prompter, _ session: Bus) {
        for number in [SIGTERM, SIGINT] {
            onSignal(number) {
                prompter.end()
                BusName.giveBack(PrompterObject.name, on: session)
                session.flush()
                exit(0)
            }
        }
        // The user asks for the prompts that a dismissal has stopped.
        onSignal(SIGHUP) { prompter.endPauses() }
    }

    static func fail(_ text: String, status: Int32 = 1) -> Never {
        write(text)
        exit(status)
    }

    static func write(_ text: String) {
        let line = Array("whorl-keyring: \(text)\n".utf8)
        _ = Glibc.write(STDERR_FILENO, line, line.count)
    }
}
