// SPDX-License-Identifier: Apache-2.0

// The standard library's own normalization: the same tables as its properties of characters, in every process that uses
// it, with or without Foundation. A library without it does not compile.
@_spi(_Unicode) internal import Swift

extension String {
    /// The text in Unicode's normal form C: two spellings that are equal by Unicode's rules have the same bytes then.
    package var composed: String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: _nfc)
        return String(scalars)
    }
}
