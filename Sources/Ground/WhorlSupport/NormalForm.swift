// SPDX-License-Identifier: Apache-2.0

// The standard library's own normalization uses the same tables as its character properties, in every process, with or
// without Foundation. This does not compile with a library that lacks it.
@_spi(_Unicode) internal import Swift

extension String {
    /// The text in Unicode normalization form C.
    ///
    /// Two spellings that Unicode considers equal then have the same bytes.
    package var composed: String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: _nfc)
        return String(scalars)
    }
}
