// SPDX-License-Identifier: Apache-2.0

internal import CWhorlGLib

/// Validates the bytes of a print before libfprint reads them.
///
/// `fp_print_deserialize()` trusts the bytes after the first three. It ends the process if the print is truncated
/// (`g_assert`, and `g_error` for a missing child), and it copies arrays without checking their types.
enum PrintForm {
    /// The GVariant type that `fp_print_serialize()` writes after the letters `FP3`.
    private static let form = "(issbymsmsia{sv}v)"
    private static let letters = Array("FP3".utf8)
    /// libfprint's types of prints, which are a driver's raw data and an image's minutiae.
    private static let (raw, points): (Int32, Int32) = (1, 2)
    /// The maximum number of minutiae per image in libfprint's matcher (MAX_BOZORTH_MINUTIAE).
    private static let mostPoints = 200
    /// The largest coordinate to accept.
    ///
    /// No reader's image is that large.
    private static let farthest: Int32 = 1 << 15

    /// Returns the error in a print's bytes, or `nil` if libfprint can read them.
    static func fault(of bytes: [UInt8]) -> String? {
        guard bytes.count > letters.count, bytes.starts(with: letters) else {
            return "the bytes do not start like a print"
        }
        // GLib makes an aligned copy.
        let body = Array(bytes.dropFirst(letters.count))
        guard let type = g_variant_type_new(form) else { return "the format is unknown" }
        defer { g_variant_type_free(type) }
        return body.withUnsafeBytes { body -> String? in
            let data = g_bytes_new(body.baseAddress, gsize(body.count))
            defer { g_bytes_unref(data) }
            guard let stored = g_variant_new_from_bytes(type, data, 0) else {
                return "the bytes cannot be read"
            }
            let value = Variant(sinking: stored)
            // Truncated or shifted data is no longer in normal form, which is unique for each value.
            guard value.inHostOrder.isNormal else {
                return "the bytes were truncated or modified"
            }
            return fault(of: value.inHostOrder)
        }
    }

    private static func fault(of print: Variant) -> String? {
        guard (0...10).contains(print[4].byte) else { return "no such finger" }
        guard print[7].int32 != 0 else { return "no such day" }
        let type = print[0].int32
        let content = print[9][0]
        switch (type, content.type) {
        // Data of the driver, which the driver itself validates.
        case (raw, "v"): return nil
        case (points, "(a(aiaiai))"):
            let pictures = content[0]
            guard pictures.count > 0 else { return "it has no picture" }
            return (0..<pictures.count).contains { !isPicture(pictures[$0]) }
                ? "a picture's points are invalid" : nil
        case (raw, _), (points, _): return "the content is of another type"
        default: return "the type \(type) is unknown"
        }
    }

    /// Returns whether a picture has as many angles as coordinates, all of them within an image.
    private static func isPicture(_ picture: Variant) -> Bool {
        let (x, y, angles) = (picture[0], picture[1], picture[2])
        guard x.count <= mostPoints, x.count == y.count, x.count == angles.count else { return false }
        return (0..<x.count).allSatisfy { number in
            (0...farthest).contains(x[number].int32)
                && (0...farthest).contains(y[number].int32)
                && (-360...360).contains(angles[number].int32)
        }
    }
}

/// An owned `GVariant`.
private final class Variant {
    /// The C object, valid for the lifetime of this value.
    private let pointer: OpaquePointer

    /// Takes ownership of a value that C created.
    ///
    /// Transfer: full, or floating.
    init(sinking pointer: OpaquePointer) { self.pointer = g_variant_take_ref(pointer) }

    deinit { g_variant_unref(pointer) }

    /// The value in this machine's byte order.
    ///
    /// Prints are stored as little-endian.
    var inHostOrder: Variant {
        #if _endian(big)
        Variant(sinking: g_variant_byteswap(pointer))
        #else
        self
        #endif
    }

    // Members of this class keep the value alive while they run; its pointer alone would not.
    var isNormal: Bool { g_variant_is_normal_form(pointer) != 0 }
    var byte: UInt8 { g_variant_get_byte(pointer) }
    var int32: Int32 { g_variant_get_int32(pointer) }
    var type: String { String(cString: g_variant_get_type_string(pointer)) }

    /// The number of values in a container.
    var count: Int { Int(g_variant_n_children(pointer)) }

    /// Returns a value in a container, which the type guarantees to exist.
    subscript(number: Int) -> Variant {
        Variant(sinking: g_variant_get_child_value(pointer, gsize(number)))
    }
}
