// SPDX-License-Identifier: Apache-2.0

extension Bytes {
    /// Appends UTF-8 text as a JSON string.
    mutating func append(text: Bytes) {
        append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            case 0..<0x20:
                append("\\u00")
                append(Self.hexadecimal(byte >> 4))
                append(Self.hexadecimal(byte & 15))
            default: append(byte)
            }
        }
        append(UInt8(ascii: "\""))
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }

    /// Appends bytes as a JSON string in Base64.
    mutating func append(base64 bytes: Bytes) {
        append(UInt8(ascii: "\""))
        var place = 0
        while place < bytes.count {
            let count = Swift.min(3, bytes.count - place)
            var group: UInt32 = 0
            for index in 0..<3 {
                group = group << 8 | (index < count ? UInt32(bytes[place + index]) : 0)
            }
            for index in 0..<4 {
                let digit = UInt8(truncatingIfNeeded: group >> UInt32(18 - 6 * index) & 63)
                append(index <= count ? Self.character(digit) : UInt8(ascii: "="))
            }
            place += count
        }
        append(UInt8(ascii: "\""))
    }

    private static func character(_ digit: UInt8) -> UInt8 {
        switch digit {
        case 0..<26: UInt8(ascii: "A") + digit
        case 26..<52: UInt8(ascii: "a") + digit - 26
        case 52..<62: UInt8(ascii: "0") + digit - 52
        case 62: UInt8(ascii: "+")
        default: UInt8(ascii: "/")
        }
    }

    /// Decodes Base64; `nil` for anything else.
    init?(base64 text: Bytes) {
        guard text.count % 4 == 0 else { return nil }
        var bytes: Bytes = []
        var group: UInt32 = 0
        var padding = 0
        for (place, character) in text.enumerated() {
            if character == UInt8(ascii: "="), place >= text.count - 2 {
                padding += 1
                group <<= 6
            } else {
                guard padding == 0, let digit = Self.digit(character) else { return nil }
                group = group << 6 | UInt32(digit)
            }
            guard place % 4 == 3 else { continue }
            for index in 0..<(3 - padding) {
                bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * index)))
            }
            group = 0
        }
        self = bytes
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }

    /// The scalar at an index and its length; `nil` if the bytes are not UTF-8.
    private func scalar(at place: Int) -> (value: UInt32, length: Int)? {
        let lead = self[place]
        let length =
            switch lead {
            case 0..<0x80: 1
            case 0xc2..<0xe0: 2
            case 0xe0..<0xf0: 3
            case 0xf0..<0xf5: 4
            default: 0
            }
        guard length > 0, place + length <= count else { return nil }
        guard length > 1 else { return (UInt32(lead), 1) }
        var value = UInt32(lead & (0x7f >> UInt8(length)))
        for index in 1..<length {
            let byte = self[place + index]
            guard byte & 0xc0 == 0x80 else { return nil }
            value = value << 6 | UInt32(byte & 0x3f)
        }
        let least: UInt32 = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x1_0000
        guard value >= least, value <= 0x10_ffff, value < 0xd800 || value >= 0xe000 else { return nil }
        return (value, length)
    }

    /// Whether the bytes are valid UTF-8.
    var isUTF8: Bool {
        var place = 0
        while place < count {
            guard let scalar = scalar(at: place) else { return false }
            place += scalar.length
        }
        return true
    }

    /// The text for display, at most 1,000 bytes long.
    ///
    /// Control characters become spaces, and characters that change the writing direction are left out.
    var shown: Bytes {
        var shown: Bytes = []
        var place = 0
        while place < count, shown.count < 996 {
            guard let scalar = scalar(at: place) else {
                shown.append(UInt8(ascii: "?"))
                place += 1
                continue
            }
            switch scalar.value {
            case 0..<0x20, 0x7f..<0xa0, 0x2028, 0x2029: shown.append(UInt8(ascii: " "))
            case 0x061c, 0x200e, 0x200f, 0x202a...0x202e, 0x2066...0x2069: break
            default: shown.append(contentsOf: self[place..<(place + scalar.length)])
            }
            place += scalar.length
        }
        return shown
    }
}
