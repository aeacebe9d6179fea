// SPDX-License-Identifier: Apache-2.0

import SecretMemory
internal import Synchronization

/// What keys mean to a prompt.
enum Key: Sendable {
    /// Escape.
    ///
    /// Not ^D: a program that runs this one on a terminal of its own sends it when its own input ends.
    case cancel
    /// Tab, while nothing is typed.
    case fallback
    /// The passcode's line has so many characters now.
    case typed(characters: Int)
    /// Enter on a line that cannot be a passcode; the line is empty now.
    case refused(PasscodeLine.Fault)
    /// Enter on a passcode.
    ///
    /// The next one waits for ``KeyReader/take(_:)``.
    case submitted(SecretBox)
    /// No key: the process goes on in the foreground after a stop, and others have written to the terminal.
    case resumed
}

/// Makes keys and a passcode of the bytes that a terminal sends; shared by who reads them and who shows them.
final class TypedLine: Sendable {
    /// What becomes of what is typed.
    enum Typing: Sendable {
        /// Nothing: no passcode is asked for.
        case ignored
        /// It goes into the line, and Enter submits it; then it is held.
        case taken
        /// It goes into the line, and Enter means nothing yet: another passcode is being compared.
        case held
        /// It goes into the line, and each Enter submits one.
        case always
    }

    private struct State: ~Copyable {
        var typing: Typing
        var line = PasscodeLine()
        var scanner = KeyScanner()
    }

    private let state: Mutex<State>

    init(_ typing: Typing) { state = Mutex(State(typing: typing)) }

    /// Sets what becomes of what is typed from now on; a line that nobody asks for any more is wiped.
    func set(_ typing: Typing) {
        state.withLock { state in
            state.typing = typing
            if case .ignored = typing { state.line.clear() }
        }
    }

    /// The key that a byte completes.
    func take(_ byte: UInt8) -> Key? {
        state.withLock { state in
            let stroke = state.scanner.take(byte)
            return Self.key(stroke, &state)
        }
    }

    /// The key that is complete since nothing followed in time.
    func settle() -> Key? {
        state.withLock { state in
            let stroke = state.scanner.settle()
            return Self.key(stroke, &state)
        }
    }

    /// Whether the next byte may belong to what came before.
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
