// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
internal import Synchronization

/// The meaning of a key at a prompt.
enum Key: Sendable {
    /// Escape.
    ///
    /// ^D does not cancel, because a program that runs this one on a pseudo-terminal sends ^D when its own input ends.
    case cancel
    /// Tab, if nothing has been typed.
    case fallback
    /// A change to the passcode field, with its number of characters.
    case typed(characters: Int)
    /// Enter, with input that cannot be a passcode. The field has been cleared.
    case refused(PasscodeLine.Fault)
    /// Enter, with a passcode.
    ///
    /// Further passcodes are not submitted until ``KeyReader/take(_:)`` is called.
    case submitted(SecretBox)
    /// An event that is not a key: the process has returned to the foreground, and other programs have written to the
    /// terminal.
    case resumed
}

/// A converter from terminal bytes to keys and a passcode.
///
/// The key reader and the display share it.
final class TypedLine: Sendable {
    /// The way in which typed input is used.
    enum Typing: Sendable {
        /// Input is ignored, because the prompt does not accept a passcode.
        case ignored
        /// Input goes into the passcode field. Enter submits the passcode, after which the state is `held`.
        case taken
        /// Input goes into the passcode field, but Enter has no effect yet because another passcode is being checked.
        case held
        /// Input goes into the passcode field, and each Enter submits a passcode.
        case always
    }

    private struct State: ~Copyable {
        var typing: Typing
        var line = PasscodeLine()
        var scanner = KeyScanner()
    }

    private let state: Mutex<State>

    init(_ typing: Typing) { state = Mutex(State(typing: typing)) }

    /// Sets how further input is used, and wipes the field if it is no longer needed.
    func set(_ typing: Typing) {
        state.withLock { state in
            state.typing = typing
            if case .ignored = typing { state.line.clear() }
        }
    }

    /// Processes a byte and returns the key that it completes, if any.
    func take(_ byte: UInt8) -> Key? {
        state.withLock { state in
            let stroke = state.scanner.take(byte)
            return Self.key(stroke, &state)
        }
    }

    /// Returns the key that is complete if no other byte has followed in time.
    func settle() -> Key? {
        state.withLock { state in
            let stroke = state.scanner.settle()
            return Self.key(stroke, &state)
        }
    }

    /// Whether the next byte may be part of the current sequence.
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
