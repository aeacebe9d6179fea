// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory

/// A passcode that is being typed.
///
/// The bytes are stored exactly as the terminal sends them, which is in UTF-8 on today's systems. A byte that is not
/// allowed or does not fit makes the input invalid. Such a byte is never silently dropped, because the remaining bytes
/// would be a different passcode.
struct PasscodeLine: ~Copyable {
    /// The reason why input cannot be a passcode.
    enum Fault: Sendable, Hashable {
        /// The input is longer than 1,024 bytes.
        case tooLong
        /// The input contains a control character, such as NUL.
        case control
    }

    /// The result of pressing Enter.
    enum Submission: Sendable {
        /// Nothing was typed.
        case empty
        /// The input cannot be a passcode.
        case refused(Fault)
        /// The input is a passcode.
        case passcode(SecretBox)
    }

    /// The maximum size of a passcode in bytes.
    static let capacity = 1024

    private var buffer = SecretBuffer(capacity: PasscodeLine.capacity)
    private(set) var fault: Fault?

    /// The number of typed characters, which is also the number of dots.
    ///
    /// Only the bytes that start a character are counted.
    var characters: Int {
        buffer.withBytes { bytes in
            (0..<bytes.byteCount).count { !Self.isContinuation(bytes, $0) }
        }
    }

    /// Applies a key to the input.
    ///
    /// - Returns: Whether the key changed the input.
    mutating func edit(_ stroke: KeyStroke) -> Bool {
        switch stroke {
        case .byte(let byte):
            if !buffer.append(byte) { fault = fault ?? .tooLong }
        case .tab, .control: fault = fault ?? .control
        case .backspace: removeCharacter()
        case .killWord: removeWord()
        case .killLine: clear()
        case .enter, .escape: return false
        }
        // Input that the user has cleared is valid again.
        switch stroke {
        case .backspace, .killWord: if buffer.count == 0 { fault = nil }
        case .byte, .tab, .control, .killLine, .enter, .escape: break
        }
        return true
    }

    /// Returns the input and clears it.
    mutating func submit() -> Submission {
        defer { clear() }
        if let fault { return .refused(fault) }
        return buffer.count == 0 ? .empty : .passcode(SecretBox(buffer.take()))
    }

    /// Wipes the input.
    mutating func clear() {
        buffer.removeAll()
        fault = nil
    }

    private mutating func removeCharacter() {
        let size = buffer.withBytes { bytes in
            var size = 1
            while size < bytes.byteCount, Self.isContinuation(bytes, bytes.byteCount - size) { size += 1 }
            return size
        }
        buffer.removeLast(size)
    }

    private mutating func removeWord() {
        let size = buffer.withBytes { bytes in
            var size = 0
            func isSpace() -> Bool { Self.byte(bytes, bytes.byteCount - size - 1) == UInt8(ascii: " ") }
            while size < bytes.byteCount, isSpace() { size += 1 }
            while size < bytes.byteCount, !isSpace() { size += 1 }
            return size
        }
        buffer.removeLast(size)
    }

    private static func byte(_ bytes: RawSpan, _ place: Int) -> UInt8 {
        bytes.unsafeLoad(fromByteOffset: place, as: UInt8.self)
    }

    private static func isContinuation(_ bytes: RawSpan, _ place: Int) -> Bool {
        byte(bytes, place) & 0xC0 == 0x80
    }
}

extension PasscodeLine.Fault {
    /// The message to show to the user.
    var text: String {
        switch self {
        case .tooLong: "A passcode must not be longer than 1,024 bytes."
        case .control: "A passcode must not contain control characters."
        }
    }
}
