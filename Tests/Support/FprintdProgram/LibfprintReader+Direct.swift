// SPDX-License-Identifier: Apache-2.0

import CWhorlFprint
import CWhorlGLib
import WhorlGLib
import WhorlLibfprint
import WhorlFingerprint

/// Operations that make exactly the calls of libfprint that their names say, at once and without waiting for others.
///
/// They are for a client that keeps its own order, as the one that serves fprintd's interface does. A second operation
/// is libfprint's to refuse (``DirectFailure/Kind/busy``).
extension LibfprintReader {
    /// The number that the driver gives to this device (`fp_device_get_device_id()`).
    var deviceNumber: String { fp_device_get_device_id(device).map { String(cString: $0) } ?? "0" }

    /// Whether the reader is open (`fp_device_is_open()`).
    var isOpen: Bool { fp_device_is_open(device) != 0 }

    /// Opens the reader.
    func openDirectly() async throws(DirectFailure) {
        try await direct(finish: fp_device_open_finish) { cancellable, reply in
            fp_device_open(device, cancellable, readyCallback, reply)
        }
    }

    /// Closes the reader.
    func closeDirectly() async throws(DirectFailure) {
        try await direct(finish: fp_device_close_finish) { cancellable, reply in
            fp_device_close(device, cancellable, readyCallback, reply)
        }
    }

    /// Suspends the reader, with what it does.
    func suspendDirectly() async throws(DirectFailure) {
        try await direct(finish: fp_device_suspend_finish) { cancellable, reply in
            fp_device_suspend(device, cancellable, readyCallback, reply)
        }
    }

    /// Resumes the reader.
    func resumeDirectly() async throws(DirectFailure) {
        try await direct(finish: fp_device_resume_finish) { cancellable, reply in
            fp_device_resume(device, cancellable, readyCallback, reply)
        }
    }

    /// Deletes a print from the reader's own storage.
    func deleteDirectly(_ template: Template) async throws(DirectFailure) {
        let print = try handle(of: template)
        try await direct(finish: fp_device_delete_print_finish) { cancellable, reply in
            fp_device_delete_print(device, print.pointer, cancellable, readyCallback, reply)
        }
    }

    /// Deletes all prints from the reader's own storage.
    func clearDirectly() async throws(DirectFailure) {
        try await direct(finish: fp_device_clear_storage_finish) { cancellable, reply in
            fp_device_clear_storage(device, cancellable, readyCallback, reply)
        }
    }

    /// Returns the prints in the reader's own storage.
    func listDirectly() async throws(DirectFailure) -> [StoredPrint] {
        try await direct { device, result, error in
            guard let array = fp_device_list_prints_finish(device, result, error) else { return nil }
            defer { g_ptr_array_unref(array) }  // transfer container: its free function drops the prints
            return (0..<Int(array.pointee.len)).compactMap { index in
                array.pointee.pdata[index].flatMap { Self.copied(OpaquePointer($0)) }
            }
        } start: { cancellable, reply in
            fp_device_list_prints(device, cancellable, readyCallback, reply)
        }
    }

    /// Returns what is written in a print; `nil` for one that does not load or does not fit this reader.
    func metadata(of template: Template) -> EnrollmentMetadata? {
        // Bytes that are no print have no metadata: the failure is the answer.
        guard let print = try? PrintHandle(template, operation: "load"), print.isCompatible(with: device)
        else { return nil }
        return PrintHandle.metadata(of: print.pointer)
    }

    /// Returns a print's bytes and metadata; `nil` for one that cannot be written, which is no print of ours.
    static func copied(_ print: OpaquePointer) -> StoredPrint? {
        guard let template = try? PrintHandle.template(of: print, operation: "list") else { return nil }
        return StoredPrint(template: template, metadata: PrintHandle.metadata(of: print))
    }

    func handle(of template: Template) throws(DirectFailure) -> PrintHandle {
        do throws(ReaderError) {
            return try PrintHandle(template, operation: "load")
        } catch {
            throw DirectFailure(error)
        }
    }

    /// Makes a call that only succeeds or fails.
    func direct(
        finish:
            @escaping (
                UnsafeMutablePointer<FpDevice>?, OpaquePointer?,
                UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?
            ) -> gboolean,
        start: (UnsafeMutablePointer<GCancellable>, UnsafeMutableRawPointer) -> Void
    ) async throws(DirectFailure) {
        try await direct(finish: { finish($0, $1, $2) != 0 ? () : nil }, start: start)
    }

    /// Makes a call with a result; cancelling the task cancels it, and its end is waited for.
    func direct<Value: Sendable>(
        finish:
            @escaping (
                UnsafeMutablePointer<FpDevice>, OpaquePointer,
                UnsafeMutablePointer<UnsafeMutablePointer<GError>?>
            ) -> Value?,
        start: (UnsafeMutablePointer<GCancellable>, UnsafeMutableRawPointer) -> Void
    ) async throws(DirectFailure) -> Value {
        let cancellable = Cancellable()
        let device = device
        return try await bridge(cancellable) { (result) -> Result<Value, DirectFailure> in
            var error: UnsafeMutablePointer<GError>?
            let value = finish(device, result, &error)
            let failure = GErrorText(taking: error)
            if let value { return .success(value) }
            return .failure(DirectFailure(failure))
        } start: { reply in
            start(cancellable.pointer, reply.userData)
        }
    }
}
