// SPDX-License-Identifier: Apache-2.0

/// The kinds of keys that a prompt distinguishes.
enum KeyStroke: Sendable, Hashable {
    /// A byte of a character: ASCII, or a part of a longer character.
    case byte(UInt8)
    /// Backspace, or ^H.
    case backspace
    /// ^U, which removes the whole line.
    case killLine
    /// ^W, which removes the last word.
    case killWord
    /// Enter.
    case enter
    /// Tab.
    case tab
    /// Escape, without a sequence.
    case escape
    /// Any other control character, including NUL.
    case control
}

/// A scanner that converts the bytes of a terminal to keys, one byte at a time.
///
/// A terminal sends Escape for the key itself, but also at the start of a sequence. Arrow keys, function keys, and
/// letters with Alt are sent as sequences (ECMA-48, and xterm's control sequences). Bytes that follow Escape
/// immediately belong to a sequence, which is discarded. If no byte follows, Escape is the key.
struct KeyScanner {
    private enum State {
        case ground
        /// After Escape.
        case escape
        /// In a control sequence, until its final byte.
        case sequence
        /// After Escape and `O`. One more byte follows.
        case single
        /// In a non-ASCII character typed with Alt.
        case character
    }

    private var state = State.ground

    /// Whether the next byte may be part of the current sequence.
    var isPending: Bool { state != .ground }

    /// Processes a byte and returns the key that it completes, if any.
    mutating func take(_ byte: UInt8) -> KeyStroke? {
        switch state {
        case .ground: return ground(byte)
        case .escape: return afterEscape(byte)
        case .sequence:
            // A final byte ends the sequence, and so does an invalid byte.
            if !(0x20...0x3F).contains(byte) { state = byte == 0x1B ? .escape : .ground }
            return nil
        case .single:
            state = .ground
            return nil
        case .character:
            if byte & 0xC0 == 0x80 { return nil }
            return ground(byte)
        }
    }

    /// Ends a sequence after a timeout.
    ///
    /// A single Escape is treated as the key, and an incomplete sequence is discarded.
    mutating func settle() -> KeyStroke? {
        defer { state = .ground }
        return state == .escape ? .escape : nil
    }

    private mutating func afterEscape(_ byte: UInt8) -> KeyStroke? {
        switch byte {
        case 0x1B: return .escape  // twice: the first one was the key
        case UInt8(ascii: "["): state = .sequence
        case UInt8(ascii: "O"): state = .single
        case 0x80...: state = .character
        default: state = .ground
        }
        return nil
    }

    private mutating func ground(_ byte: UInt8) -> KeyStroke? {
        state = .ground
        switch byte {
        case 0x1B:
            state = .escape
            return nil
        case 0x0A, 0x0D: return .enter
        case 0x09: return .tab
        case 0x08, 0x7F: return .backspace
        case 0x15: return .killLine
        case 0x17: return .killWord
        case 0x00...0x1F: return .control
        default: return .byte(byte)
        }
    }
}
