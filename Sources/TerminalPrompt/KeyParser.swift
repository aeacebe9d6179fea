// SPDX-License-Identifier: Apache-2.0

/// A key that means something to a prompt.
enum Key: Sendable, Hashable {
    /// Escape or `q`.
    ///
    /// Not ^D: a program that runs this one on a terminal of its own sends it when its own input ends.
    case cancel
    /// `f`.
    case fallback
}

/// Makes keys of the bytes that a terminal sends.
///
/// A terminal sends Escape for the key and as the beginning of the sequences of arrow and function keys. What
/// follows at once belongs to a sequence; only an Escape that stays alone is the key.
struct KeyParser {
    /// The keys in bytes that came together.
    static func keys(in bytes: [UInt8]) -> [Key] {
        guard bytes.first == 0x1B else { return bytes.compactMap(key) }
        return bytes.count == 1 ? [.cancel] : []
    }

    private static func key(_ byte: UInt8) -> Key? {
        switch byte {
        case UInt8(ascii: "q"), UInt8(ascii: "Q"): .cancel
        case UInt8(ascii: "f"), UInt8(ascii: "F"): .fallback
        default: nil
        }
    }
}
