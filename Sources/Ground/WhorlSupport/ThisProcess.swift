// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What the kernel knows of this process, and what it is told about it.
package enum ThisProcess {
    /// Whether it has more rights than whoever started it: set-user-ID, or file capabilities.
    ///
    /// Where the C library cannot be asked, the process counts as elevated.
    package static let isElevated: Bool = {
        typealias Call = @convention(c) (_ type: UInt) -> UInt
        let getauxval = gnuFunction("getauxval", as: Call.self)
        return getauxval?(23) != 0  // AT_SECURE, on every architecture
    }()

    /// The user that it runs as, by the user database rather than by a variable.
    package static var userName: String {
        guard let entry = getpwuid(geteuid()), let name = entry.pointee.pw_name else {
            return "uid-\(geteuid())"
        }
        return String(cString: name)
    }

    /// The home folder of the user that it runs as, by the user database; `nil` if that has none.
    package static var homeFolder: String? {
        guard let entry = getpwuid(geteuid()), let folder = entry.pointee.pw_dir else { return nil }
        return String(cString: folder)
    }

    /// The folder that the program's file is in; `nil` where the kernel does not tell.
    package static var folder: String? {
        guard let path = linkTarget("/proc/self/exe"), let end = path.lastIndex(of: "/") else { return nil }
        return String(path[..<end])
    }

    /// The name of the program's file, without its folder: it stays the same when the program moves.
    package static var programName: String {
        fileName(ofProgram: linkTarget("/proc/self/exe") ?? "") ?? "unknown"
    }

    /// The file's name in what the kernel says of a program; `nil` when there is none.
    package static func fileName(ofProgram path: String) -> String? {
        guard let file = path.split(separator: "/").last.map(String.init) else { return nil }
        // So the kernel marks a file that was replaced while it runs, as an upgrade does (proc(5)).
        let mark = " (deleted)"
        return file.hasSuffix(mark) ? String(file.dropLast(mark.count)) : file
    }

    /// Keeps templates and keys out of core files, and this process from being traced by others of its user.
    ///
    /// For programs that are Whorl's own: a library must not take core files away from the program it is in. Root
    /// can read the memory all the same, and a debugger that starts the program can.
    ///
    /// - Returns: `false` if the system refused; a program should then go no further.
    package static func hideMemory() -> Bool {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0 else { return false }
        // Where cores are piped to a program, the limit does not count, and this does (core(5)).
        typealias Call = @convention(c) (_ option: CInt, UInt, UInt, UInt, UInt) -> CInt
        guard let prctl = gnuFunction("prctl", as: Call.self) else { return false }
        return prctl(4, 0, 0, 0, 0) == 0  // PR_SET_DUMPABLE, on every architecture
    }

    private static func linkTarget(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
    }
}
