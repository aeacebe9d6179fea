// SPDX-License-Identifier: Apache-2.0

internal import CGLib

/// A value that this process sends over D-Bus, with its type.
package indirect enum BusContent: Sendable, Hashable {
    /// A string (`s`).
    case text(String)
    /// An object path (`o`).
    case path(String)
    /// A truth value (`b`).
    case flag(Bool)
    /// A whole number (`i`).
    case number(Int32)
    /// A value whose type is sent along (`v`).
    case variant(BusContent)
    /// Values of one type, whose signature counts for an empty array too.
    case array(of: String, [BusContent])
    /// The pairs of a dictionary, with the signatures of its keys and its values.
    case dictionary(key: String, value: String, [Entry])

    /// A pair of a dictionary.
    package struct Entry: Sendable, Hashable {
        package let key: BusContent
        package let value: BusContent

        package init(_ key: BusContent, _ value: BusContent) {
            self.key = key
            self.value = value
        }
    }

    /// Returns the values of properties or options by their names (`a{sv}`).
    package static func members(_ members: [(String, BusContent)]) -> BusContent {
        .dictionary(key: "s", value: "v", members.map { Entry(.text($0), .variant($1)) })
    }

    /// Makes GLib's value, whose only reference is floating.
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

    /// Makes a tuple of values, as a call's answer and a signal carry them; its only reference is floating.
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
