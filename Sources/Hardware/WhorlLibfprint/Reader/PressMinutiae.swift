// SPDX-License-Identifier: Apache-2.0

internal import CWhorlFprint
internal import CWhorlGLib
internal import Glibc

/// The minutiae of one press, used to compare its position on the finger with that of another press.
///
/// The comparison only guides an enrollment. libfprint's matcher alone decides whether two presses are from the same
/// finger.
final class PressMinutiae {
    struct Point {
        var x: Int32
        var y: Int32
        /// The direction of the ridge at the minutia, in degrees from 0 to 359.
        var angle: Int32
    }

    private(set) var points: [Point]

    init(_ points: [Point]) { self.points = points }

    deinit {
        for index in points.indices { points[index] = Point(x: 0, y: 0, angle: 0) }
    }

    /// Returns the vector, in pixels, from a part of the finger in another press to the same part in this press.
    ///
    /// Each pair of minutiae with similar directions is a vote for the vector between them. Returns `nil` if too few
    /// votes agree, for example because the presses show different parts.
    func displacement(from other: PressMinutiae) -> (x: Double, y: Double)? {
        var votes: [(x: Int32, y: Int32)] = []
        for point in points {
            for earlier in other.points where point.turn(from: earlier) <= Rules.turn {
                votes.append((point.x - earlier.x, point.y - earlier.y))
            }
        }
        var best: (count: Int, x: Int32, y: Int32) = (0, 0, 0)
        for vote in votes {
            let near = votes.filter {
                abs($0.x - vote.x) <= Rules.nearness && abs($0.y - vote.y) <= Rules.nearness
            }
            guard near.count > best.count else { continue }
            best = (near.count, near.reduce(0) { $0 + $1.x }, near.reduce(0) { $0 + $1.y })
        }
        let needed = max(Rules.leastVotes, min(points.count, other.points.count) * Rules.agreeing / 100)
        guard best.count >= needed else { return nil }
        return (Double(best.x) / Double(best.count), Double(best.y) / Double(best.count))
    }

    /// Returns whether this press shows roughly the same part of the finger as another one.
    func isAlike(_ other: PressMinutiae) -> Bool {
        guard let shift = displacement(from: other) else { return false }
        return hypot(shift.x, shift.y) < Rules.alike * max(extent, other.extent)
    }

    /// The diagonal of the bounding box of the minutiae.
    private var extent: Double {
        guard let first = points.first else { return 0 }
        var (left, right, top, bottom) = (first.x, first.x, first.y, first.y)
        for point in points {
            (left, right) = (min(left, point.x), max(right, point.x))
            (top, bottom) = (min(top, point.y), max(bottom, point.y))
        }
        return hypot(Double(right - left), Double(bottom - top))
    }

    /// The parameters of the comparison, tuned with synthetic fingers (`Bench/enrollment`).
    private enum Rules {
        /// The maximum rotation between two views of one minutia, in degrees.
        static let turn: Int32 = 20
        /// The maximum distance between votes for the same vector in x and in y, in pixels.
        static let nearness: Int32 = 10
        /// The minimum number of votes for a vector.
        ///
        /// The votes must also be a minimum percentage of the minutiae.
        static let leastVotes = 5
        static let agreeing = 30
        /// The maximum shift of a press that shows the same part, as a fraction of the minutiae's extent.
        static let alike = 0.1
    }
}

extension PressMinutiae.Point {
    /// Returns the angle between the directions of two minutiae, in degrees from 0 to 180.
    fileprivate func turn(from other: PressMinutiae.Point) -> Int32 {
        let turn = abs(angle - other.angle) % 360
        return min(turn, 360 - turn)
    }
}

extension PressMinutiae {
    /// The maximum number of minutiae to read.
    ///
    /// libfprint stores at most 200 per press.
    private static let most = 1000

    /// Reads the minutiae from a print that libfprint created from one press.
    ///
    /// The format is that of `fp_print_serialize()`, which is `FP3` followed by a GVariant whose last member has three
    /// arrays for each press (libfprint's `fp-print.c`). Returns `nil` for any other print, such as those from
    /// match-on-chip readers.
    convenience init?(of print: OpaquePointer, from device: UnsafeMutablePointer<FpDevice>?) {
        // The print of a reader without images may not have data yet, and libfprint does not serialize such a print.
        guard let device, fp_device_has_feature(device, FP_DEVICE_FEATURE_CAPTURE) != 0 else { return nil }
        var data: UnsafeMutablePointer<UInt8>?
        var length: gsize = 0
        guard fp_print_serialize(print, &data, &length, nil) != 0, let data else { return nil }
        defer {
            explicit_bzero(data, Int(length))
            g_free(data)
        }
        guard length > 3, data[0] == UInt8(ascii: "F"), data[1] == UInt8(ascii: "P"),
            data[2] == UInt8(ascii: "3")
        else { return nil }
        // GLib reads a GVariant in place if its memory is aligned, and so leaves no copy behind.
        let body = UnsafeMutableRawPointer.allocate(byteCount: Int(length) - 3, alignment: 16)
        body.copyMemory(from: data + 3, byteCount: Int(length) - 3)
        defer {
            explicit_bzero(body, Int(length) - 3)
            body.deallocate()
        }
        guard let points = PressMinutiae.points(in: body, Int(length) - 3) else { return nil }
        self.init(points)
    }

    private static func points(in body: UnsafeMutableRawPointer, _ count: Int) -> [Point]? {
        guard let type = g_variant_type_new("(issbymsmsia{sv}v)") else { return nil }
        defer { g_variant_type_free(type) }
        guard let raw = g_variant_new_from_data(type, body, gsize(count), gboolean(0), nil, nil) else {
            return nil
        }
        let whole = Variant(taking: raw)
        #if _endian(big)
        return nil  // The form is little-endian; big-endian machines get no guidance.
        #else
        guard let data = whole.child(9)?.child(0), data.isOf("(a(aiaiai))"), let presses = data.child(0),
            g_variant_n_children(presses.pointer) == 1, let press = presses.child(0),
            let x = press.child(0)?.numbers, let y = press.child(1)?.numbers,
            let angle = press.child(2)?.numbers,
            x.count == y.count, x.count == angle.count, x.count <= most
        else { return nil }
        return x.indices.map { Point(x: x[$0], y: y[$0], angle: angle[$0]) }
        #endif
    }
}

/// An owned `GVariant`.
private final class Variant {
    let pointer: OpaquePointer

    /// Takes ownership of a value that C created (transfer full or floating).
    init(taking pointer: OpaquePointer) { self.pointer = g_variant_take_ref(pointer) }

    deinit { g_variant_unref(pointer) }

    /// Returns a member of a container, or `nil` if this value is not a container or has too few members.
    func child(_ index: Int) -> Variant? {
        guard g_variant_is_container(pointer) != 0, g_variant_n_children(pointer) > gsize(index),
            let child = g_variant_get_child_value(pointer, gsize(index))
        else { return nil }
        return Variant(taking: child)
    }

    func isOf(_ type: String) -> Bool { String(cString: g_variant_get_type_string(pointer)) == type }

    /// The numbers in an array of 32-bit integers, valid for the lifetime of this value.
    var numbers: [Int32]? {
        guard isOf("ai") else { return nil }
        var count: gsize = 0
        let bytes = g_variant_get_fixed_array(pointer, &count, gsize(MemoryLayout<Int32>.size))
        return Array(
            UnsafeBufferPointer(start: bytes?.assumingMemoryBound(to: Int32.self), count: Int(count))
        )
    }
}
