// SPDX-License-Identifier: Apache-2.0

import CKioskGTK
import Glibc
import Kiosk

/// The first screen of a kiosk, started by greetd.
@main
enum Program {
    /// The folder with the administrator's files.
    ///
    /// greetd's configuration can specify another one.
    private static var folder: String {
        switch CommandLine.arguments.dropFirst() {
        case []: "/etc/whorl"
        case let words where words.count == 2 && words.first == "--configuration": words.last ?? ""
        default: fail("usage: kiosk-greeter [--configuration FOLDER]")
        }
    }

    @MainActor
    static func main() {
        guard kiosk_hide_memory() != 0 else { fail("Cannot protect the memory of this program.") }
        g_set_prgname("kiosk-greeter")
        // A small screen is drawn without the graphics card, whose libraries need a lot of memory and time.
        setenv("GSK_RENDERER", "cairo", 0)
        guard gtk_init_check() != 0 else { fail("No display found.") }
        kiosk_hold_cursor()
        greeter().begin()
        g_main_loop_run(g_main_loop_new(nil, 0))
    }

    /// Creates the greeter from the administrator's files.
    ///
    /// If one is invalid, the screen says so, and no one can log in.
    @MainActor
    private static func greeter() -> Greeter {
        let folder = folder
        do throws(FileFault) {
            let configuration = try Configuration(path: "\(folder)/kiosk.conf")
            return Greeter(configuration, Greeting(configuration, try Badges(path: "\(folder)/badges")))
        } catch {
            return Greeter(Configuration(), Greeting(fault: error))
        }
    }

    /// Writes a line to the journal.
    ///
    /// Typed text is never written there.
    static func write(_ text: String) {
        let line = Array("kiosk-greeter: \(text)\n".utf8)
        _ = Glibc.write(STDERR_FILENO, line, line.count)
    }

    static func fail(_ text: String) -> Never {
        write(text)
        exit(1)
    }
}
