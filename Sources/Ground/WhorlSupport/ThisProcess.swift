// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Properties of this process, as reported by the kernel and the user database, and its protection.
package enum ThisProcess {
    /// Whether the process has more privileges than its caller: set-user-ID, or file capabilities.
    ///
    /// If the C library does not provide this information, the process counts as elevated.
    package static let isElevated: Bool = {
        typealias Call = @convention(c) (_ type: UInt) -> UInt
        let getauxval = gnuFunction("getauxval", as: Call.self)
        return getauxval?(23) != 0  // AT_SECURE, on every architecture
    }()

    /// The process's environment; empty if the process is elevated, because its caller chose the variables.
    package static var trustedEnvironment: [String: String] {
        isElevated ? [:] : environment
    }

    /// The environment variables of the process; if a name occurs twice, the last value is used.
    ///
    /// Foundation offers the same as `ProcessInfo.processInfo.environment`, but every program would then have to link
    /// Foundation.
    private static var environment: [String: String] {
        var variables: [String: String] = [:]
        typealias Entries = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
        // Swift's `environ` crashes after clearenv(3), which leaves no variables.
        var next = dlsym(nil, "environ")?.assumingMemoryBound(to: Entries?.self).pointee
        while let entry = next?.pointee {
            let text = String(cString: entry)
            // A character that combines with the equals sign would form one `Character` with it.
            if let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) {
                variables[String(text[..<equals])] = String(text[text.utf8.index(after: equals)...])
            }
            next = next?.advanced(by: 1)
        }
        return variables
    }

    /// The name of the process's effective user, from the user database, not from a variable.
    package static var userName: String { userName(of: geteuid()) }

    /// Returns the name of a user from the user database, or `uid-` and the number if the database has no name.
    package static func userName(of uid: UInt32) -> String {
        if case .found(let account) = account(of: uid) { account.name } else { "uid-\(uid)" }
    }

    /// Returns whether the user database contains a user ID; `nil` if it is not responding.
    @Sendable package static func hasAccount(_ uid: UInt32) -> Bool? {
        switch account(of: uid) {
        case .found: true
        case .missing: false
        // The C library returns one of these for a user ID that it does not find (getpwnam(3)).
        case .unavailable(let error): [ENOENT, ESRCH, EBADF, EPERM].contains(error) ? false : nil
        }
    }

    /// Returns the ID of the user with a name, from the user database; `nil` if there is no such user.
    package static func userNumber(of name: String) -> UInt32? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 16) { room in
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            guard let place = room.baseAddress, getpwnam_r(name, &entry, place, room.count, &found) == 0,
                found != nil
            else { return nil }
            return entry.pw_uid
        }
    }

    /// Returns the account with a user ID, from the user database.
    package static func account(of uid: UInt32) -> AccountLookup {
        // As long as any line of the database that the C library reads.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 16) { room in
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            guard let place = room.baseAddress else { return .unavailable(ENOMEM) }
            // If there is neither an entry nor an error, only the last source of nsswitch.conf(5) is known to have
            // responded.
            let status = getpwuid_r(uid, &entry, place, room.count, &found)
            guard status == 0 else { return .unavailable(status) }
            guard found != nil, let name = entry.pw_name else { return .missing }
            return .found(
                SystemAccount(
                    number: uid,
                    name: String(cString: name),
                    group: entry.pw_gid,
                    home: entry.pw_dir.map { String(cString: $0) } ?? ""
                )
            )
        }
    }

    /// Returns the groups of the account with a user ID, from the user database; `nil` if they cannot be determined.
    @Sendable package static func groups(of uid: UInt32) -> Set<UInt32>? {
        guard case .found(let account) = account(of: uid) else { return nil }
        var room: Int32 = 64
        // The kernel gives a process no more groups than that (NGROUPS_MAX), beside its own.
        while room <= 65_537 {
            var groups = [gid_t](repeating: 0, count: Int(room))
            var count = room
            if getgrouplist(account.name, account.group, &groups, &count) >= 0 {
                return Set(groups.prefix(Int(count)))
            }
            guard count > room else { return nil }
            room = count
        }
        return nil
    }

    /// The home folder of the process's effective user, from the user database; `nil` if the database has none.
    package static var homeFolder: String? {
        guard let entry = getpwuid(geteuid()), let folder = entry.pointee.pw_dir else { return nil }
        return String(cString: folder)
    }

    /// The folder of the executable; `nil` if the kernel does not report it.
    package static var folder: String? {
        guard let path = linkTarget("/proc/self/exe"), let end = path.lastIndex(of: "/") else { return nil }
        return String(path[..<end])
    }

    /// The file name of the executable, without its folder, so that it stays the same if the program is moved.
    package static var programName: String {
        fileName(ofProgram: linkTarget("/proc/self/exe") ?? "") ?? "unknown"
    }

    /// Returns the file name in the kernel's path of an executable; `nil` if the path does not contain one.
    package static func fileName(ofProgram path: String) -> String? {
        guard let file = path.split(separator: "/").last.map(String.init) else { return nil }
        // The kernel's mark for a file that was replaced while it runs, for example by an upgrade (proc(5)).
        let mark = " (deleted)"
        return file.hasSuffix(mark) ? String(file.dropLast(mark.count)) : file
    }

    /// Keeps templates and keys out of core files, and prevents the user's other processes from tracing this one.
    ///
    /// Use it only in Whorl's own programs: a library must not disable core files for the program that uses it. Root
    /// can still read the memory, and so can a debugger that starts the program.
    ///
    /// - Returns: `false` if this failed; a program should then not continue.
    package static func hideMemory() -> Bool {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0 else { return false }
        // If cores are piped to a program, the limit does not apply, but this does (core(5)).
        typealias Call = @convention(c) (_ option: CInt, UInt, UInt, UInt, UInt) -> CInt
        guard let prctl = gnuFunction("prctl", as: Call.self) else { return false }
        return prctl(4, 0, 0, 0, 0) == 0  // PR_SET_DUMPABLE, on every architecture
    }

    /// Keeps the heap small, for a long-running program that rarely allocates on two threads at a time (mallopt(3)).
    ///
    /// Large blocks are returned to the system as soon as they are freed. Otherwise the C library keeps blocks of up to
    /// 32 MiB once one of their size was freed. All threads share one heap; by default, each thread has a separate heap
    /// and keeps its pages. Call this before the first thread is created.
    package static func keepHeapSmall() {
        typealias Call = @convention(c) (_ parameter: CInt, _ value: CInt) -> CInt
        // C libraries other than glibc have no such option.
        guard let mallopt = gnuFunction("mallopt", as: Call.self) else { return }
        _ = mallopt(-3, 1 << 20)  // M_MMAP_THRESHOLD
        _ = mallopt(-8, 1)  // M_ARENA_MAX
    }

    private static func linkTarget(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
    }
}

/// Looks up a function of the C library that is missing from Swift's module.
///
/// The module may omit its header (getauxval(3), gettext(3)), or the function may be GNU-only (pipe2(2),
/// pthread_setname_np(3)) or variadic (prctl(2), whose arguments Linux's calling conventions pass like any others). It
/// may also be a function of a library that only some programs load; in other programs, the result is `nil`.
package func gnuFunction<Call>(_ name: String, as: Call.Type) -> Call? {
    dlsym(nil, name).map { unsafeBitCast($0, to: Call.self) }
}

/// An account of the system, as listed in the user database.
package struct SystemAccount: Sendable, Hashable {
    package let number: UInt32
    package let name: String
    /// The ID of the account's primary group.
    package let group: UInt32
    /// The path of the home folder.
    package let home: String

    package init(number: UInt32, name: String, group: UInt32, home: String) {
        self.number = number
        self.name = name
        self.group = group
        self.home = home
    }
}

/// The result of looking up an account in the user database.
package enum AccountLookup: Sendable, Hashable {
    case found(SystemAccount)
    /// The database has no such account.
    case missing
    /// A source of the database did not respond, with this error number; the account may or may not exist.
    case unavailable(Int32)
}
