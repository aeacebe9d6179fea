// SPDX-License-Identifier: Apache-2.0

import CWhorlFprint
import CWhorlGLib
import WhorlGLib
import WhorlLibfprint
import WhorlFingerprint

/// The word of a driver about one presentation, before its operation has ended.
enum DirectReport: Sendable, Hashable {
    /// The presentation is one of the prints.
    case match
    /// The presentation is none of the prints.
    case noMatch
    /// The presentation could not be read.
    case retry(ScanRetry)
}

/// The end of an identification.
struct DirectIdentification: Sendable {
    /// The place of the print in the gallery; `nil` for no match.
    let match: Int?
    /// The print that the reader itself has of the finger; `nil` if it gives none.
    let scanned: Template?
}

/// Operations that wait for a finger.
///
/// Their observers are called on the GLib thread, in the midst of the operation.
extension LibfprintReader {
    /// Compares one presentation with one print (`fp_device_verify()`).
    ///
    /// - Returns: Whether it matches.
    func verifyDirectly(
        _ template: Template,
        report: @escaping @Sendable (DirectReport) -> Void
    ) async throws(DirectFailure) -> Bool {
        let print = try handle(of: template)
        return try await direct { device, result, error in
            var isMatch: gboolean = 0
            guard fp_device_verify_finish(device, result, &isMatch, nil, error) != 0 else { return nil }
            return isMatch != 0
        } start: { cancellable, reply in
            fp_device_verify(
                device,
                print.pointer,
                cancellable,
                Self.matched,
                Unmanaged.passRetained(MatchReport(report)).toOpaque(),
                { $0.map { Unmanaged<MatchReport>.fromOpaque($0).release() } },
                readyCallback,
                reply
            )
        }
    }

    /// Compares one presentation with several prints (`fp_device_identify()`); those that do not fit are left out.
    ///
    /// - Parameters:
    ///   - templates: The prints.
    ///   - begun: Called when libfprint has begun, before anything else happens on the GLib thread.
    ///   - report: Takes what the driver says in the midst of it.
    /// - Returns: The print that matches, and the reader's own.
    /// - Throws: the failure that ended the identification.
    func identifyDirectly(
        _ templates: [Template],
        begun: () -> Void = {},
        report: @escaping @Sendable (DirectReport) -> Void
    ) async throws(DirectFailure) -> DirectIdentification {
        let gallery = Gallery(templates, for: device)
        return try await direct { device, result, error in
            var match: OpaquePointer?
            var scanned: OpaquePointer?
            defer {
                for print in [match, scanned] { print.map { g_object_unref(UnsafeMutableRawPointer($0)) } }
            }
            guard fp_device_identify_finish(device, result, &match, &scanned, error) != 0 else { return nil }
            // A print that is not in the gallery is an error of the driver, and never a match.
            let place = match.map { gallery.place(of: $0) ?? -1 }
            guard place != -1 else { return nil }
            return DirectIdentification(
                match: place,
                scanned: scanned.flatMap { LibfprintReader.copied($0)?.template }
            )
        } start: { cancellable, reply in
            fp_device_identify(
                device,
                gallery.pointer,
                cancellable,
                Self.matched,
                Unmanaged.passRetained(MatchReport(report)).toOpaque(),
                { $0.map { Unmanaged<MatchReport>.fromOpaque($0).release() } },
                readyCallback,
                reply
            )
            begun()
        }
    }

    /// Enrolls a finger (`fp_device_enroll()`).
    ///
    /// - Parameters:
    ///   - metadata: The words that the print carries.
    ///   - begun: Called when libfprint has begun, before anything else happens on the GLib thread.
    ///   - progress: Takes the number of stages that are done, or the reason for which one has to be repeated.
    /// - Returns: The print.
    /// - Throws: the failure that ended the enrollment.
    func enrollDirectly(
        _ metadata: EnrollmentMetadata,
        begun: () -> Void = {},
        progress: @escaping @Sendable (Result<Int, DirectFailure>) -> Void
    ) async throws(DirectFailure) -> Template {
        let blank = try blank(metadata)
        let enrolled = try await direct { device, result, error in
            fp_device_enroll_finish(device, result, error).map { print in
                let enrolled = PrintHandle(taking: print)
                return LibfprintReader.copied(enrolled.pointer)?.template
            }
        } start: { cancellable, reply in
            fp_device_enroll(
                device,
                blank.pointer,
                cancellable,
                { _, completed, _, data, error in
                    guard let data else { return }
                    let failure = error.map { DirectFailure(GErrorText(copying: $0)) }
                    Unmanaged<StageReport>.fromOpaque(data).takeUnretainedValue().report(
                        failure.map { .failure($0) } ?? .success(Int(completed))
                    )
                },
                Unmanaged.passRetained(StageReport(progress)).toOpaque(),
                { $0.map { Unmanaged<StageReport>.fromOpaque($0).release() } },
                readyCallback,
                reply
            )
            begun()
        }
        guard let enrolled else { throw DirectFailure(.other, "the print cannot be written") }
        return enrolled
    }

    private func blank(_ metadata: EnrollmentMetadata) throws(DirectFailure) -> PrintHandle {
        do throws(ReaderError) {
            return try PrintHandle(for: device, metadata: metadata)
        } catch {
            throw DirectFailure(error)
        }
    }

    private static let matched: FpMatchCb = { _, match, _, data, error in
        guard let data else { return }
        let report = Unmanaged<MatchReport>.fromOpaque(data).takeUnretainedValue().report
        guard let error else { return report(match == nil ? .noMatch : .match) }
        // Other errors come again as the end of the operation.
        if case .retry(let reason) = DirectFailure(GErrorText(copying: error)).kind { report(.retry(reason)) }
    }
}

/// The `match_data` of a comparison; C's destroy notification releases it.
private final class MatchReport: Sendable {
    let report: @Sendable (DirectReport) -> Void
    init(_ report: @escaping @Sendable (DirectReport) -> Void) { self.report = report }
}

/// The `progress_data` of an enrollment; C's destroy notification releases it.
private final class StageReport: Sendable {
    let report: @Sendable (Result<Int, DirectFailure>) -> Void
    init(_ report: @escaping @Sendable (Result<Int, DirectFailure>) -> Void) { self.report = report }
}

/// The prints of an identification, each with its place among the caller's.
///
/// Unchecked: the array never changes, and its reference count is safe from any thread.
private final class Gallery: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<GPtrArray>
    private let places: [OpaquePointer: Int]

    init(_ templates: [Template], for device: UnsafeMutablePointer<FpDevice>) {
        let array = g_ptr_array_new_full(guint(templates.count), { $0.map { g_object_unref($0) } })
        guard let array else { preconditionFailure("g_ptr_array_new_full() returned NULL") }
        var places: [OpaquePointer: Int] = [:]
        for (place, template) in templates.enumerated() {
            // A print that does not load or fit is compared with nothing, and so matches nothing.
            guard let print = try? PrintHandle(template, operation: "identify"),
                print.isCompatible(with: device)
            else { continue }
            places[print.pointer] = place
            g_ptr_array_add(array, g_object_ref(UnsafeMutableRawPointer(print.pointer)))
        }
        pointer = array
        self.places = places
    }

    deinit { g_ptr_array_unref(pointer) }

    func place(of print: OpaquePointer) -> Int? { places[print] }
}
