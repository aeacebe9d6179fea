// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Looks up a function of the C library that Swift's module lacks: because of its header (getauxval(3), gettext(3)),
/// because it is GNU-only (pipe2(2), pthread_setname_np(3)), or because it is variadic (prctl(2), whose arguments Linux's
/// calling conventions pass like any others).
package func gnuFunction<Call>(_ name: String, as: Call.Type) -> Call? {
    dlsym(nil, name).map { unsafeBitCast($0, to: Call.self) }
}
