// SPDX-License-Identifier: Apache-2.0

internal import CPAM

/// A line that is typed without being shown.
///
/// Its bytes are overwritten when it is released.
@safe struct LineEditor: ~Copyable {
    /// The maximum size of the line in bytes.
    ///
    /// PAM accepts no longer answer.
    static let longest = 511

    /// The keys that edit the line, as configured for the terminal.
    struct Keys {
        var erase: UInt8 = 0x7f
        var kill: UInt8 = 0x15
        var end: UInt8 = 0x04
    }

    /// The state of the line after a key.
    enum State { case open, done, ended }

    private let keys: Keys
    /// Dedicated memory that is never moved, so that no copy of the line remains.
    private let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: longest + 1)
    private var count = 0
    /// Whether more was typed than fits.
    ///
    /// Such a line is not a valid password.
    private(set) var isTooLong = false

    init(_ keys: Keys = Keys()) {
        self.keys = keys
        unsafe bytes.initialize(repeating: 0)
    }

    deinit {
        unsafe whorl_wipe(bytes.baseAddress, bytes.count)
        unsafe bytes.deallocate()
    }

    var isEmpty: Bool { count == 0 && !isTooLong }

    /// Processes a key.
    mutating func take(_ key: UInt8) -> State {
        switch key {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return .done
        case keys.end: return isEmpty ? .ended : .done
        case keys.erase, 0x08, 0x7f: erase()
        case keys.kill, 0x17: clear()
        case 0: break
        default: append(key)
        }
        return .open
    }

    /// The line as a C string, valid until the line changes.
    @unsafe var text: UnsafeRawPointer? {
        unsafe bytes[count] = 0
        return unsafe UnsafeRawPointer(bytes.baseAddress)
    }

    /// Overwrites the line.
    mutating func clear() {
        unsafe whorl_wipe(bytes.baseAddress, bytes.count)
        count = 0
        isTooLong = false
    }

    private mutating func append(_ key: UInt8) {
        guard count < Self.longest else {
            isTooLong = true
            return
        }
        unsafe bytes[count] = key
        count += 1
    }

    /// Removes the last character, with all of its bytes.
    private mutating func erase() {
        while count > 0 {
            count -= 1
            let byte = unsafe bytes[count]
            unsafe bytes[count] = 0
            if byte & 0xc0 != 0x80 { return }
        }
    }
}
