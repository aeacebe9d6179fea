// SPDX-License-Identifier: Apache-2.0

import CGLib

/// A value that was received over D-Bus.
///
/// Its parts are copied only when they are read.
final class BusValue {
    private let pointer: OpaquePointer

    /// Keeps a value.
    init(_ pointer: OpaquePointer) { self.pointer = g_variant_ref(pointer) }

    /// Takes ownership of a value.
    init(taking pointer: OpaquePointer) { self.pointer = pointer }

    deinit { g_variant_unref(pointer) }

    /// The number of elements of an array or a tuple; 0 for other types.
    var count: Int { g_variant_is_container(pointer) != 0 ? Int(g_variant_n_children(pointer)) : 0 }

    /// Returns an element of an array, a tuple or a dictionary entry; `nil` if it is missing.
    subscript(index: Int) -> BusValue? {
        guard index >= 0, index < count else { return nil }
        return g_variant_get_child_value(pointer, gsize(index)).map { BusValue(taking: $0) }
    }

    /// The value in a variant, and in a variant within it; any other value is returned as it is.
    ///
    /// gcr puts the properties of a prompt into two.
    var content: BusValue {
        var value = self
        for _ in 0..<2 {
            guard g_variant_classify(value.pointer) == G_VARIANT_CLASS_VARIANT, let inner = value[0] else {
                break
            }
            value = inner
        }
        return value
    }

    /// The size in bytes of the value with all its parts.
    var size: Int { Int(g_variant_get_size(pointer)) }

    /// The length in bytes of a string, an object path or a signature; `nil` for other types.
    var textSize: Int? {
        switch g_variant_classify(pointer) {
        case G_VARIANT_CLASS_STRING, G_VARIANT_CLASS_OBJECT_PATH, G_VARIANT_CLASS_SIGNATURE:
            var count: gsize = 0
            _ = g_variant_get_string(pointer, &count)
            return Int(count)
        default: return nil
        }
    }

    /// The string, object path or signature; `nil` for other types.
    var text: String? {
        textSize == nil ? nil : g_variant_get_string(pointer, nil).map { String(cString: $0) }
    }

    /// The object path; `nil` for other types, and for `/`, which stands for no object.
    var path: String? {
        guard g_variant_classify(pointer) == G_VARIANT_CLASS_OBJECT_PATH, let path = text else { return nil }
        return path == "/" ? nil : path
    }

    /// The Boolean; `nil` for other types.
    var flag: Bool? {
        g_variant_classify(pointer) == G_VARIANT_CLASS_BOOLEAN ? g_variant_get_boolean(pointer) != 0 : nil
    }

    /// The unsigned 32-bit number; `nil` for other types.
    var number: UInt32? {
        g_variant_classify(pointer) == G_VARIANT_CLASS_UINT32 ? g_variant_get_uint32(pointer) : nil
    }

    /// The number of a descriptor among those that came with the message; `nil` for other types.
    var handle: Int32? {
        g_variant_classify(pointer) == G_VARIANT_CLASS_HANDLE ? g_variant_get_handle(pointer) : nil
    }

    /// Returns a member of a dictionary of variants; `nil` if it is missing.
    subscript(name: String) -> BusValue? {
        for index in 0..<count {
            guard let entry = self[index], entry[0]?.text == name else { continue }
            return entry[1]?.content
        }
        return nil
    }
}

/// A value that is sent over D-Bus, with its type.
indirect enum BusContent: Sendable {
    /// A string (`s`).
    case text(String)
    /// An object path (`o`), which must be valid.
    case path(String)
    /// Object paths (`ao`).
    case paths([String])
    /// A Boolean (`b`).
    case flag(Bool)
    /// A number (`u`).
    case number(UInt32)
    /// A number with a sign (`i`).
    case signed(Int32)
    /// A value that is sent together with its type (`v`).
    case variant(BusContent)
    /// Properties by their names (`a{sv}`).
    case members([String: BusContent])

    /// Creates a tuple, whose only reference is floating.
    static func tuple(_ parts: [BusContent]) -> OpaquePointer? {
        let children = parts.map { $0.make() }
        return g_variant_new_tuple(children, gsize(children.count))
    }

    private func make() -> OpaquePointer? {
        switch self {
        case .text(let text): g_variant_new_string(text)
        case .path(let path): g_variant_new_object_path(path)
        case .paths(let paths): Self.array(of: "o", paths.map { g_variant_new_object_path($0) })
        case .flag(let flag): g_variant_new_boolean(flag ? 1 : 0)
        case .number(let number): g_variant_new_uint32(number)
        case .signed(let number): g_variant_new_int32(number)
        case .variant(let content): g_variant_new_variant(content.make())
        case .members(let members):
            Self.array(
                of: "{sv}",
                members.map { name, value in
                    g_variant_new_dict_entry(g_variant_new_string(name), BusContent.variant(value).make())
                }
            )
        }
    }

    private static func array(of signature: String, _ children: [OpaquePointer?]) -> OpaquePointer? {
        let type = g_variant_type_new(signature)
        defer { g_variant_type_free(type) }
        return g_variant_new_array(type, children, gsize(children.count))
    }
}
