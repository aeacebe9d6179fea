// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A function of the C library that Swift's module of it leaves out: for its header (getauxval(3)), for being GNU's
/// alone (pipe2(2), pthread_setname_np(3)), or for its "..." (prctl(2), whose arguments Linux's calling conventions pass
/// like any others).
package func gnuFunction<Call>(_ name: String, as: Call.Type) -> Call? {
    dlsym(nil, name).map { unsafeBitCast($0, to: Call.self) }
}
