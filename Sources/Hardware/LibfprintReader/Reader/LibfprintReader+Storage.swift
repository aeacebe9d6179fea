// SPDX-License-Identifier: Apache-2.0

internal import CFprint
internal import CGLib
public import WhorlFingerprint
internal import GLibRuntime

extension LibfprintReader {
    /// Returns the prints in the reader (`fp_device_list_prints()`).
    public func storedPrints(whenBusy: BusyPolicy) async throws(ReaderError) -> [StoredPrint] {
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
    public func delete(_ template: Template, whenBusy: BusyPolicy) async throws(ReaderError) {
        try await whenOpen("delete", needing: .storageDelete, whenBusy) { () async throws(ReaderError) in
            let print = try PrintHandle(template, operation: "delete")
            try await call("delete", finish: fp_device_delete_print_finish) { cancellable, reply in
                fp_device_delete_print(device, print.pointer, cancellable, readyCallback, reply)
            }
        }
    }

    /// Deletes all prints from the reader (`fp_device_clear_storage()`).
    public func clearStorage(whenBusy: BusyPolicy) async throws(ReaderError) {
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
