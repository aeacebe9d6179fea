// SPDX-License-Identifier: Apache-2.0

internal import CWhorl

/// A string or bytes for C, followed by a zero byte, which are freed with this object.
@safe final class CText {
    let start: UnsafeMutablePointer<CChar>?
    let count: Int

    init(_ bytes: Bytes) {
        unsafe start = unsafe library_copy(bytes, bytes.count)
        count = bytes.count
    }

    deinit { unsafe free(start) }
}

/// The values of an event, a result, or a row.
struct Values {
    private struct Entry {
        let which: Int32
        let number: Int64
        let text: CText?
    }

    /// Bytes are stored with the strings, under numbers that no string has.
    private static let bytes: Int32 = 1 << 16

    private var entries: [Entry] = []

    @inline(never) private mutating func add(_ which: Int32, _ number: Int64, _ text: CText?) {
        entries.append(Entry(which: which, number: number, text: text))
    }

    /// Sets a string, if there is one.
    @inline(never) mutating func set(_ which: Int32, _ text: Bytes?) {
        // In C, a string ends at its first zero byte.
        if let text { add(which, -1, CText(text)) }
    }

    /// Sets a number, if there is one.
    @inline(never) mutating func set(_ which: Int32, _ number: Int64?) {
        if let number { add(which, number, nil) }
    }

    /// Sets bytes, if there are any.
    @inline(never) mutating func set(bytes which: Int32, _ bytes: Bytes?) {
        if let bytes { add(which | Self.bytes, -1, CText(bytes)) }
    }

    @inline(never) private func find(_ which: Int32, hasText: Bool) -> Entry? {
        for entry in entries where entry.which == which && (entry.text != nil) == hasText { return entry }
        return nil
    }

    /// Returns a string; an empty one if it is not set.
    @unsafe func text(_ which: Int32) -> UnsafePointer<CChar> {
        if let start = unsafe find(which, hasText: true)?.text?.start { return unsafe UnsafePointer(start) }
        return unsafe library_empty()
    }

    /// Returns a number; -1 if it is not set.
    func number(_ which: Int32) -> Int64 { find(which, hasText: false)?.number ?? -1 }

    /// Returns bytes; `nil` if they are not set.
    func bytes(_ which: Int32) -> CText? { find(which | Self.bytes, hasText: true)?.text }
}

// In Swift, the header's names of values have separate types.
extension Values {
    mutating func set(_ which: whorl_text, _ text: Bytes?) { set(Int32(which.rawValue), text) }
    mutating func set(_ which: whorl_number, _ number: Int64?) { set(Int32(which.rawValue), number) }
    mutating func set(_ which: whorl_bytes_of, _ bytes: Bytes?) { set(bytes: Int32(which.rawValue), bytes) }

    mutating func set(_ which: whorl_number, _ flag: Bool) { set(Int32(which.rawValue), flag ? 1 : 0) }
}

// The members of an object that become values, if they exist.
extension Values {
    @inline(never) mutating func take(_ which: Int32, text name: StaticString, of object: JSONValue?) {
        set(which, object?[name]?.text)
    }

    /// Sets a string that is shown to users.
    @inline(never) mutating func take(_ which: Int32, shown name: StaticString, of object: JSONValue?) {
        set(which, object?[name]?.text?.shown)
    }

    /// Sets a number, or a Boolean as 1 or 0.
    @inline(never) mutating func take(_ which: Int32, number name: StaticString, of object: JSONValue?) {
        guard let value = object?[name] else { return }
        if let flag = value.flag { set(which, flag ? 1 : 0) } else { set(which, value.number) }
    }

    mutating func take(_ which: whorl_text, _ name: StaticString, of object: JSONValue?) {
        take(Int32(which.rawValue), text: name, of: object)
    }

    mutating func take(_ which: whorl_text, shown name: StaticString, of object: JSONValue?) {
        take(Int32(which.rawValue), shown: name, of: object)
    }

    mutating func take(_ which: whorl_number, _ name: StaticString, of object: JSONValue?) {
        take(Int32(which.rawValue), number: name, of: object)
    }

    mutating func take(_ which: whorl_row, _ name: StaticString, of object: JSONValue?) {
        take(Int32(which.rawValue), text: name, of: object)
    }

    mutating func take(_ which: whorl_row, shown name: StaticString, of object: JSONValue?) {
        take(Int32(which.rawValue), shown: name, of: object)
    }

    mutating func take(_ which: whorl_row, number name: StaticString, of object: JSONValue?) {
        take(Int32(which.rawValue), number: name, of: object)
    }
}
