// SPDX-License-Identifier: Apache-2.0

package import CWhorlFprint
internal import CWhorlGLib
internal import WhorlGLib
package import WhorlFingerprint

/// An owned `FpPrint`.
package struct PrintHandle: ~Copyable {
    /// The C object, valid for the lifetime of this value.
    ///
    /// Transfer: none.
    package let pointer: OpaquePointer

    /// Takes ownership of a print that C created.
    ///
    /// Transfer: full, or floating (libfprint documents both in the same way).
    package init(taking pointer: OpaquePointer) {
        let object = UnsafeMutableRawPointer(pointer)
        if g_object_is_floating(object) != 0 { g_object_ref_sink(object) }
        self.pointer = pointer
    }

    /// Creates a new print for an enrollment to fill.
    ///
    /// `fp_print_new()`, floating.
    package init(for device: UnsafeMutablePointer<FpDevice>, metadata: EnrollmentMetadata) throws(ReaderError)
    {
        guard let pointer = fp_print_new(device) else {
            throw ReaderError(.malfunction, operation: "enroll", cause: "fp_print_new() returned NULL")
        }
        self.init(taking: pointer)
        if let finger = metadata.finger { fp_print_set_finger(pointer, finger.cValue) }
        if let name = metadata.userName { fp_print_set_username(pointer, name) }
        if let date = metadata.date { PrintHandle.set(date, on: pointer) }
    }

    /// Creates the print that is contained in a template.
    ///
    /// `fp_print_deserialize()`, transfer full.
    ///
    /// - Throws: `templateInvalid` if the bytes are not a template.
    package init(_ template: Template, operation: String) throws(ReaderError) {
        if let fault = PrintForm.fault(of: template.bytes) {
            throw ReaderError(.templateInvalid, operation: operation, cause: fault)
        }
        var error: UnsafeMutablePointer<GError>?
        let pointer = template.bytes.withUnsafeBufferPointer {
            fp_print_deserialize($0.baseAddress, gsize($0.count), &error)
        }
        guard let pointer else {
            let cause = GErrorText(taking: error)?.text ?? "fp_print_deserialize() returned NULL"
            throw ReaderError(.templateInvalid, operation: operation, cause: cause)
        }
        self.init(taking: pointer)
    }

    deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }

    /// Returns whether the print can be used with the device.
    ///
    /// `fp_print_compatible()`.
    package func isCompatible(with device: UnsafeMutablePointer<FpDevice>) -> Bool {
        fp_print_compatible(pointer, device) != 0
    }

    /// Returns a template with the bytes for ``init(_:operation:)``.
    ///
    /// `fp_print_serialize()`, whose buffer is freed with `g_free()`.
    package static func template(of pointer: OpaquePointer, operation: String) throws(ReaderError) -> Template
    {
        var data: UnsafeMutablePointer<UInt8>?
        var length: gsize = 0
        var error: UnsafeMutablePointer<GError>?
        guard fp_print_serialize(pointer, &data, &length, &error) != 0, let data else {
            let cause = GErrorText(taking: error)?.text ?? "fp_print_serialize() gave nothing"
            throw ReaderError(.malfunction, operation: operation, cause: cause)
        }
        // The only place where the template leaves C memory: copied, wiped, freed.
        let template = Template(bytes: Array(UnsafeBufferPointer(start: data, count: Int(length))))
        explicit_bzero(data, Int(length))
        g_free(data)
        return template
    }

    /// Returns the metadata stored with a print.
    package static func metadata(of pointer: OpaquePointer) -> EnrollmentMetadata {
        EnrollmentMetadata(
            finger: Finger(fp_print_get_finger(pointer)),
            userName: fp_print_get_username(pointer).map { String(cString: $0) },
            date: fp_print_get_enroll_date(pointer).flatMap { date in
                guard g_date_valid(date) != 0 else { return nil }
                return CalendarDate(
                    year: Int(g_date_get_year(date)),
                    month: Int(g_date_get_month(date).rawValue),
                    day: Int(g_date_get_day(date))
                )
            }
        )
    }

    private static func set(_ date: CalendarDate, on pointer: OpaquePointer) {
        guard let day = UInt8(exactly: date.day), let month = UInt32(exactly: date.month),
            let year = UInt16(exactly: date.year),
            g_date_valid_dmy(day, GDateMonth(rawValue: month), year) != 0,
            let cDate = g_date_new_dmy(day, GDateMonth(rawValue: month), year)
        else { return }
        fp_print_set_enroll_date(pointer, cDate)  // copies
        g_date_free(cDate)
    }
}

/// An owned `GPtrArray` of the prints with which an identification compares a finger.
struct PrintArray: ~Copyable {
    /// The C object, valid for the lifetime of this value.
    ///
    /// Transfer: none.
    let pointer: UnsafeMutablePointer<GPtrArray>
    private var ids: [OpaquePointer: PrintID] = [:]

    /// Creates the prints of a gallery in the gallery's order.
    ///
    /// - Throws: `templateInvalid` if one of the entries is not a template or belongs to another reader. Leaving that
    ///   entry out would lead to "no match" for an enrolled finger.
    init(_ gallery: [GalleryEntry], for device: UnsafeMutablePointer<FpDevice>) throws(ReaderError) {
        pointer = g_ptr_array_new_full(guint(gallery.count), { $0.map { g_object_unref($0) } })
        for entry in gallery {
            let print = try PrintHandle(entry.template, operation: "identify")
            guard print.isCompatible(with: device) else {
                throw ReaderError(
                    .templateInvalid,
                    operation: "identify",
                    cause: "print \(entry.id) is not compatible"
                )
            }
            ids[print.pointer] = entry.id
            g_ptr_array_add(pointer, g_object_ref(UnsafeMutableRawPointer(print.pointer)))
        }
    }

    deinit { g_ptr_array_unref(pointer) }

    /// Returns the ID of the entry for a C pointer, or `nil` if the pointer is not in this array.
    func id(of print: OpaquePointer) -> PrintID? { ids[print] }
}
