// SPDX-License-Identifier: Apache-2.0

internal import CGLib

/// A value that came over D-Bus, copied out of GLib's.
package indirect enum BusValue: Sendable, Hashable {
    /// A truth value.
    case flag(Bool)
    /// A whole number of any width.
    case number(Int64)
    /// A string, an object path or a signature.
    case text(String)
    /// An array, a tuple, or an entry of a dictionary, which is a pair.
    case list([BusValue])
    /// A value of another type.
    case other

    /// Copies a value (transfer none); what a variant holds takes the variant's place.
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

    /// The text; `nil` for another value.
    package var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// The truth value; `nil` for another value.
    package var flag: Bool? {
        guard case .flag(let flag) = self else { return nil }
        return flag
    }

    /// The number; `nil` for another value.
    package var number: Int64? {
        guard case .number(let number) = self else { return nil }
        return number
    }

    /// A part of an array or a tuple; `nil` if it is missing.
    package subscript(index: Int) -> BusValue? {
        guard case .list(let parts) = self, parts.indices.contains(index) else { return nil }
        return parts[index]
    }

    /// A member of a dictionary; `nil` if it is missing.
    package subscript(name: String) -> BusValue? {
        guard case .list(let entries) = self else { return nil }
        return entries.first { $0[0]?.text == name }?[1]
    }
}
