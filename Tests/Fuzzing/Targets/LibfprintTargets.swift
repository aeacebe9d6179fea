// SPDX-License-Identifier: Apache-2.0

import CWhorlGLib
import WhorlFingerprint

@testable import WhorlLibfprint

extension FuzzTarget {
    static let libfprintTargets: [FuzzTarget] = [
        FuzzTarget(name: "template", longestInput: 4096, check: template)
    ]

    /// A template that libfprint reads is written as one that says the same of its finger.
    ///
    /// libfprint is not instrumented: the fuzzer sees no more of it than whether it answers. The date is left out, since
    /// libfprint 1.94.5 writes a missing one as a day of the year 27329.
    private static func template(_ input: [UInt8]) throws(BrokenPromise) {
        guard isOfForm(input), let print = try? PrintHandle(Template(bytes: input), operation: "fuzz") else {
            return
        }
        let metadata = PrintHandle.metadata(of: print.pointer)
        guard let written = try? PrintHandle.template(of: print.pointer, operation: "fuzz") else { return }
        guard let again = try? PrintHandle(written, operation: "fuzz") else {
            throw BrokenPromise("what libfprint wrote it does not read")
        }
        let same = PrintHandle.metadata(of: again.pointer)
        try promise(
            same.finger == metadata.finger && same.userName == metadata.userName,
            "\(metadata) became \(same)"
        )
    }

    /// Whether the bytes have the form that libfprint writes.
    ///
    /// libfprint 1.94.5 ends the process at others (`g_assert` in fp-print.c). Templates come sealed from the database,
    /// so that nobody without the key brings such bytes there; a caller of ``FingerprintReader`` can.
    private static func isOfForm(_ input: [UInt8]) -> Bool {
        guard input.count > 3, let type = g_variant_type_new("(issbymsmsia{sv}v)") else { return false }
        let body = Array(input[3...])
        let bytes = g_bytes_new(body, gsize(body.count))
        let form = g_variant_ref_sink(g_variant_new_from_bytes(type, bytes, 0))
        defer {
            g_variant_unref(form)
            g_bytes_unref(bytes)
            g_variant_type_free(type)
        }
        guard g_variant_is_normal_form(form) != 0, let kind = g_variant_get_child_value(form, 0),
            let boxed = g_variant_get_child_value(form, 9), let data = g_variant_get_variant(boxed)
        else { return false }
        defer { [kind, boxed, data].forEach { g_variant_unref($0) } }
        // FPI_PRINT_RAW and FPI_PRINT_NBIS
        return switch g_variant_get_int32(kind) {
        case 1: String(cString: g_variant_get_type_string(data)) == "v"
        case 2: String(cString: g_variant_get_type_string(data)) == "(a(aiaiai))"
        default: false
        }
    }
}
