// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
internal import Synchronization

/// A key in its meaning for a prompt.
enum Key: Sendable {
    /// Escape.
    ///
    /// Not ^D: a program that runs this one on a terminal of its own sends ^D when its own input ends.
    case cancel
    /// Tab, while nothing is typed.
    case fallback
    /// A change of the passcode's line, with its number of characters.
    case typed(characters: Int)
    /// Enter on a line that cannot be a passcode; the line is then empty.
    case refused(PasscodeLine.Fault)
    /// Enter on a passcode.
    ///
    /// The next passcode waits for ``KeyReader/take(_:)``.
    case submitted(SecretBox)
    /// Not a key: the process is in the foreground again after a stop, and other programs have written to the terminal.
    case resumed
}

/// A converter from the bytes of a terminal to keys and a passcode, shared by the reader and the display of the keys.
final class TypedLine: Sendable {
    /// The use of what is typed.
    enum Typing: Sendable {
        /// The input is ignored: no passcode is asked for.
        case ignored
        /// The input goes into the line, and Enter submits it; afterwards the line is held.
        case taken
        /// The input goes into the line, but Enter has no effect yet: another passcode is being compared.
        case held
        /// The input goes into the line, and each Enter submits a passcode.
        case always
    }

    private struct State: ~Copyable {
        var typing: Typing
        var line = PasscodeLine()
        var scanner = KeyScanner()
    }

    private let state: Mutex<State>

    init(_ typing: Typing) { state = Mutex(State(typing: typing)) }

    /// Sets the use of what is typed from now on; wipes a line that is no longer asked for.
    func set(_ typing: Typing) {
        state.withLock { state in
            state.typing = typing
            if case .ignored = typing { state.line.clear() }
        }
    }

    /// Takes a byte and returns the key that it completes.
    func take(_ byte: UInt8) -> Key? {
        state.withLock { state in
            let stroke = state.scanner.take(byte)
            return Self.key(stroke, &state)
        }
    }

    /// Returns the key that is complete because no byte followed in time.
    func settle() -> Key? {
        state.withLock { state in
            let stroke = state.scanner.settle()
            return Self.key(stroke, &state)
        }
    }

    /// Whether the next byte may belong to the previous ones.
    var isPending: Bool { state.withLock { $0.scanner.isPending } }

    private static func key(_ stroke: KeyStroke?, _ state: inout State) -> Key? {
        switch (stroke, state.typing) {
        case (nil, _): return nil
        case (.escape, _): return .cancel
        case (.tab, .ignored): return .fallback
        case (.tab, _) where state.line.characters == 0: return .fallback
        case (.enter, .taken), (.enter, .always): return submit(&state)
        case (.enter, _), (_, .ignored): return nil
        case (let stroke?, _):
            guard state.line.edit(stroke) else { return nil }
            return .typed(characters: state.line.characters)
        }
    }

    private static func submit(_ state: inout State) -> Key? {
        switch state.line.submit() {
        case .empty: return nil
        case .refused(let fault): return .refused(fault)
        case .passcode(let box):
            if case .taken = state.typing { state.typing = .held }
            return .submitted(box)
        }
    }
}
