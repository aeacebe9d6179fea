// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Keeps a password and a token out of core files, and this process from being looked into by others of its user.
///
/// As `whorl` does for itself: its own word ends where another program is executed. The same lines are in `WhorlSystem`,
/// which would bring the readers and the chip along.
func hideMemory() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    // Where cores are piped to a program, the limit does not count, and this does (core(5)). Swift's module of the C
    // library leaves prctl(2) out for its "...", whose arguments Linux passes like any others.
    typealias Call = @convention(c) (_ option: CInt, UInt, UInt, UInt, UInt) -> CInt
    guard let address = dlsym(nil, "prctl") else { exit(71) }
    let prctl = unsafeBitCast(address, to: Call.self)
    // PR_SET_DUMPABLE, on every architecture.
    guard prctl(4, 0, 0, 0, 0) == 0 else { exit(71) }
}
