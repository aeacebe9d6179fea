// SPDX-License-Identifier: Apache-2.0

internal import CWhorlGLib

/// A value received over D-Bus, copied from GLib's value.
package indirect enum BusValue: Sendable, Hashable {
    /// A Boolean.
    case flag(Bool)
    /// An integer of any width.
    case number(Int64)
    /// A string, an object path or a signature.
    case text(String)
    /// An array, a tuple, or a dictionary entry, which is a pair.
    case list([BusValue])
    /// A value of another type.
    case other

    /// Copies a value (transfer none), replacing a variant with its content.
    init(_ value: OpaquePointer) {
        switch g_variant_classify(value) {
        case G_VARIANT_CLASS_BOOLEAN: self = .flag(g_variant_get_boolean(value) != 0)
        case G_VARIANT_CLASS_BYTE: self = .number(Int64(g_variant_get_byte(value)))
        case G_VARIANT_CLASS_INT32: self = .number(Int64(g_variant_get_int32(value)))
        case G_VARIANT_CLASS_UINT32: self = .number(Int64(g_variant_get_uint32(value)))
        case G_VARIANT_CLASS_INT64: self = .number(Int64(g_variant_get_int64(value)))
        case G_VARIANT_CLASS_UINT64: self = .number(Int64(clamping: g_variant_get_uint64(value)))
        case G_VARIANT_CLASS_STRING, G_VARIANT_CLASS_OBJECT_PATH, G_VARIANT_CLASS_SIGNATURE:
            self = g_variant_get_string(value, nil).map { .text(String(cString: $0)) } ?? .other
        case G_VARIANT_CLASS_VARIANT: self = Self.children(of: value).first ?? .other
        case G_VARIANT_CLASS_ARRAY, G_VARIANT_CLASS_TUPLE, G_VARIANT_CLASS_DICT_ENTRY:
            self = .list(Self.children(of: value))
        default: self = .other
        }
    }

    private static func children(of value: OpaquePointer) -> [BusValue] {
        (0..<g_variant_n_children(value)).compactMap { index in
            guard let child = g_variant_get_child_value(value, index) else { return nil }
            defer { g_variant_unref(child) }
            return BusValue(child)
        }
    }

    /// The text, or `nil` for values of other types.
    package var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// The Boolean, or `nil` for values of other types.
    package var flag: Bool? {
        guard case .flag(let flag) = self else { return nil }
        return flag
    }

    /// The number, or `nil` for values of other types.
    package var number: Int64? {
        guard case .number(let number) = self else { return nil }
        return number
    }

    /// Returns an element of an array or a tuple, or `nil` if it is missing.
    package subscript(index: Int) -> BusValue? {
        guard case .list(let parts) = self, parts.indices.contains(index) else { return nil }
        return parts[index]
    }

    /// Returns a member of a dictionary, or `nil` if it is missing.
    package subscript(name: String) -> BusValue? {
        guard case .list(let entries) = self else { return nil }
        return entries.first { $0[0]?.text == name }?[1]
    }
}

/// A value that this process sends over D-Bus, with its type.
package indirect enum BusContent: Sendable, Hashable {
    /// A string (`s`).
    case text(String)
    /// An object path (`o`).
    case path(String)
    /// A Boolean (`b`).
    case flag(Bool)
    /// An integer (`i`).
    case number(Int32)
    /// A value that is sent together with its type (`v`).
    case variant(BusContent)
    /// Values of one type, with its signature, which is needed if the array is empty.
    case array(of: String, [BusContent])
    /// The entries of a dictionary, with the signatures of its keys and values.
    case dictionary(key: String, value: String, [Entry])

    /// An entry of a dictionary.
    package struct Entry: Sendable, Hashable {
        package let key: BusContent
        package let value: BusContent

        package init(_ key: BusContent, _ value: BusContent) {
            self.key = key
            self.value = value
        }
    }

    /// Returns a dictionary of properties or options, by their names (`a{sv}`).
    package static func members(_ members: [(String, BusContent)]) -> BusContent {
        .dictionary(key: "s", value: "v", members.map { Entry(.text($0), .variant($1)) })
    }

    /// Creates the GLib value, whose only reference is floating.
    func make() -> OpaquePointer? {
        switch self {
        case .text(let text): g_variant_new_string(text)
        case .path(let path): g_variant_new_object_path(path)
        case .flag(let flag): g_variant_new_boolean(gboolean(flag ? 1 : 0))
        case .number(let number): g_variant_new_int32(number)
        case .variant(let content): g_variant_new_variant(content.make())
        case .array(let type, let items): Self.array(of: type, items.map { $0.make() })
        case .dictionary(let key, let value, let entries):
            Self.array(
                of: "{\(key)\(value)}",
                entries.map { g_variant_new_dict_entry($0.key.make(), $0.value.make()) }
            )
        }
    }

    /// Creates a tuple of values, as used in replies and signals, whose only reference is floating.
    static func tuple(_ parts: [BusContent]) -> OpaquePointer? {
        let children = parts.map { $0.make() }
        return g_variant_new_tuple(children, gsize(children.count))
    }

    private static func array(of signature: String, _ children: [OpaquePointer?]) -> OpaquePointer? {
        let type = g_variant_type_new(signature)
        defer { g_variant_type_free(type) }
        return g_variant_new_array(type, children, gsize(children.count))
    }
}
