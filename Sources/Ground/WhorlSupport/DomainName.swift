// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// Functions for host names with non-ASCII letters.
package enum DomainName {
    /// Returns a name's A-label form (RFC 5891, section 5), as browsers send it; `nil` if the name is not valid.
    ///
    /// The C library uses the same libidn2 when a program resolves names. It is loaded only when needed; if it is not
    /// installed, such a name has no A-label. Source: idn2_lookup_u8().
    package static func aLabel(of name: String) -> String? {
        typealias Lookup =
            @convention(c) (
                UnsafePointer<UInt8>, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, CInt
            ) -> CInt
        guard let library = dlopen("libidn2.so.0", RTLD_NOW | RTLD_LOCAL) else { return nil }
        defer { dlclose(library) }
        guard let symbol = dlsym(library, "idn2_lookup_u8") else { return nil }
        let lookup = unsafeBitCast(symbol, to: Lookup.self)
        // IDN2_NFC_INPUT and IDN2_NONTRANSITIONAL: only the 2008 rules apply, which leave “ß” as it is.
        var label: UnsafeMutablePointer<UInt8>?
        guard lookup(Array(name.utf8) + [0], &label, 1 | 8) == 0, let label else { return nil }
        defer { free(label) }
        return String(cString: label)
    }
}
