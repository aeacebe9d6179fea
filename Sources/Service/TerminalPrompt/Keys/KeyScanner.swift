// SPDX-License-Identifier: Apache-2.0

/// One key, as far as a prompt knows keys.
enum KeyStroke: Sendable, Hashable {
    /// A byte of a character: ASCII, or a part of one beyond it.
    case byte(UInt8)
    /// Backspace, or ^H.
    case backspace
    /// ^U: the whole line goes.
    case killLine
    /// ^W: the last word goes.
    case killWord
    /// Enter.
    case enter
    /// Tab.
    case tab
    /// Escape alone.
    case escape
    /// Any other control character, NUL among them.
    case control
}

/// Makes keys of the bytes that a terminal sends, one byte after the other.
///
/// A terminal sends Escape for the key and as the beginning of the sequences of arrow and function keys, and of a letter
/// with Alt (ECMA-48, and xterm's control sequences). What follows at once belongs to a sequence, which is dropped; only an
/// Escape that stays alone is the key.
struct KeyScanner {
    private enum State {
        case ground
        /// After Escape.
        case escape
        /// In a control sequence, until its final byte.
        case sequence
        /// After Escape and `O`: one byte is left.
        case single
        /// In a character beyond ASCII that came with Alt.
        case character
    }

    private var state = State.ground

    /// Whether the next byte may belong to what came before.
    var isPending: Bool { state != .ground }

    /// The key that this byte completes; `nil` when it completes none.
    mutating func take(_ byte: UInt8) -> KeyStroke? {
        switch state {
        case .ground: return ground(byte)
        case .escape: return afterEscape(byte)
        case .sequence:
            // A final byte ends it, and so does what has no place in it.
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

    /// Nothing followed in time: an Escape was the key, and half a sequence was nothing.
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
