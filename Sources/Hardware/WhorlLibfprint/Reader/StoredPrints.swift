// SPDX-License-Identifier: Apache-2.0

internal import CWhorlFprint
internal import CWhorlGLib
internal import WhorlGLib
package import WhorlFingerprint

extension LibfprintReader {
    /// Returns the prints that are stored in the reader (`fp_device_list_prints()`).
    package func storedPrints(whenBusy: BusyPolicy) async throws(ReaderError) -> [StoredPrint] {
        try await whenOpen("list", needing: .storageList, whenBusy) { () async throws(ReaderError) in
            try await call("list") { device, result, error throws(ReaderError) in
                guard let array = fp_device_list_prints_finish(device, result, error) else { return nil }
                defer { g_ptr_array_unref(array) }  // transfer container: its free function drops the prints
                return try Self.copy(array)
            } start: { cancellable, reply in
                fp_device_list_prints(device, cancellable, readyCallback, reply)
            }
        }
    }

    /// Deletes one print from the reader (`fp_device_delete_print()`).
    package func delete(_ template: Template, whenBusy: BusyPolicy) async throws(ReaderError) {
        try await whenOpen("delete", needing: .storageDelete, whenBusy) { () async throws(ReaderError) in
            let print = try PrintHandle(template, operation: "delete")
            try await call("delete", finish: fp_device_delete_print_finish) { cancellable, reply in
                fp_device_delete_print(device, print.pointer, cancellable, readyCallback, reply)
            }
        }
    }

    /// Deletes all prints from the reader (`fp_device_clear_storage()`).
    package func clearStorage(whenBusy: BusyPolicy) async throws(ReaderError) {
        try await whenOpen("clear", needing: .storageClear, whenBusy) { () async throws(ReaderError) in
            try await call("clear", finish: fp_device_clear_storage_finish) { cancellable, reply in
                fp_device_clear_storage(device, cancellable, readyCallback, reply)
            }
        }
    }

    private static func copy(_ array: UnsafeMutablePointer<GPtrArray>) throws(ReaderError) -> [StoredPrint] {
        var prints: [StoredPrint] = []
        for index in 0..<Int(array.pointee.len) {
            guard let raw = array.pointee.pdata[index] else { continue }
            let print = OpaquePointer(raw)
            let template = try PrintHandle.template(of: print, operation: "list")
            prints.append(StoredPrint(template: template, metadata: PrintHandle.metadata(of: print)))
        }
        return prints
    }
}

/// The description that libfprint stores in a print.
package struct SavedPrint: Sendable, Hashable {
    /// The reader's driver (`fp_print_get_driver()`).
    package let driver: String
    /// The device ID that the driver assigns to the reader (`fp_print_get_device_id()`).
    package let number: String
    /// The finger, the user and the date of the enrollment.
    package let metadata: EnrollmentMetadata
    /// Whether the print itself is stored in the reader and the template's bytes are only a handle to it
    /// (`fp_print_get_device_stored()`).
    package let isInReader: Bool
}

extension LibfprintSource {
    /// Returns the description that is stored in a print, or `nil` if the bytes are not a print.
    package func saved(_ template: Template) -> SavedPrint? {
        // Bytes that are not a print have no description, so the error is not reported.
        guard let print = try? PrintHandle(template, operation: "load") else { return nil }
        let driver = fp_print_get_driver(print.pointer).map { String(cString: $0) }
        let number = fp_print_get_device_id(print.pointer).map { String(cString: $0) }
        return SavedPrint(
            driver: driver ?? "",
            number: number ?? "",
            metadata: PrintHandle.metadata(of: print.pointer),
            isInReader: fp_print_get_device_stored(print.pointer) != 0
        )
    }

    /// Returns a description of the reader that created a print, as far as it is known without access to the reader.
    package func info(ofReaderOf print: SavedPrint) -> ReaderInfo {
        let id = LibfprintReader.id(driver: print.driver, number: print.number)
        let present = connected.map { reader in reader.assumeIsolated { $0.info } }
        if let info = present.first(where: { $0.id == id }) { return info }
        let kind: ReaderInfo.Kind = print.driver.hasPrefix("virtual_") ? .virtual : .hardware
        let storage: ReaderInfo.Storage = print.isInReader ? .reader : .host
        return ReaderInfo(
            id: id,
            driver: print.driver,
            name: print.driver,
            kind: kind,
            scanType: .press,
            features: [],
            enrollStages: 0,
            storage: storage,
            strength: ReaderStrength(driver: print.driver, kind: kind, storage: storage),
            access: ReaderAccess(kind == .virtual ? .pretended : .unknown)
        )
    }
}

extension LibfprintReader {
    /// Returns the identity of the first reader with the given driver and device ID.
    static func id(driver: String, number: String) -> ReaderID {
        let name = "\(driver)-\(number)".unicodeScalars.filter { $0.isASCII && !$0.properties.isWhitespace }
        return ReaderID(rawValue: String(String.UnicodeScalarView(name)))
    }
}
