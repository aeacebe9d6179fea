// SPDX-License-Identifier: Apache-2.0

import CGTK
import Glibc

/// The programs that are installed with this one; they are not looked up in PATH.
enum InstalledProgram {
    /// The command line.
    static let whorl = path("whorl")
    /// The program that pkexec runs as root.
    static let helper = path("../libexec/whorl/whorl-settings-helper")

    /// Returns the path of a program, relative to the folder of this one; `nil` if it is not installed.
    private static func path(_ place: String) -> String? {
        guard let own = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(own) }
        guard let folder = g_path_get_dirname(own) else { return nil }
        defer { g_free(folder) }
        // pkexec compares the path with that of the policy.
        guard let found = realpath(String(cString: folder) + "/" + place, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }

    /// Returns whether PATH has a program of the system.
    static func isInSystem(_ name: String) -> Bool {
        guard let found = g_find_program_in_path(name) else { return false }
        g_free(found)
        return true
    }
}
