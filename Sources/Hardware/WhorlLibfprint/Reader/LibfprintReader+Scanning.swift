// SPDX-License-Identifier: Apache-2.0

internal import CWhorlFprint
internal import CWhorlGLib
package import WhorlFingerprint
internal import WhorlGLib

extension LibfprintReader {
    /// Enrolls a finger and returns its template (`fp_device_enroll()`).
    package func enroll(
        _ metadata: EnrollmentMetadata,
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> Template {
        try await whenOpen("enroll", whenBusy) { () async throws(ReaderError) in
            let blank = try PrintHandle(for: device, metadata: metadata)
            let stages = Int(fp_device_get_nr_enroll_stages(device))
            let progress = EnrollProgress(total: stages) { [weak self] event in
                self?.assumeIsolated { $0.presentationEnded(event) }
            }
            return try await observed(by: observer, presentations: stages) { () async throws(ReaderError) in
                try await call("enroll") { device, result, error throws(ReaderError) in
                    guard let print = fp_device_enroll_finish(device, result, error) else { return nil }
                    let enrolled = PrintHandle(taking: print)
                    return try PrintHandle.template(of: enrolled.pointer, operation: "enroll")
                } start: { cancellable, reply in
                    fp_device_enroll(
                        device,
                        blank.pointer,
                        cancellable,
                        EnrollProgress.callback,
                        Unmanaged.passRetained(progress).toOpaque(),
                        { $0.map { Unmanaged<EnrollProgress>.fromOpaque($0).release() } },
                        readyCallback,
                        reply
                    )
                }
            }
        }
    }

    /// Compares one presentation with one template (`fp_device_verify()`).
    ///
    /// libfprint improves a template only by enrolling again (`FP_DEVICE_FEATURE_UPDATE_PRINT`), so a match here never
    /// returns an updated template.
    package func verify(
        _ template: Template,
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> VerifyResult {
        try await whenOpen("verify", needing: .verify, whenBusy) { () async throws(ReaderError) in
            let enrolled = try PrintHandle(template, operation: "verify")
            guard enrolled.isCompatible(with: device) else {
                throw ReaderError(.templateInvalid, operation: "verify", cause: "the print is not compatible")
            }
            let suspensions = sleep.count
            let outcome = try await observed(by: observer) { () async throws(ReaderError) in
                try await attempt("verify") { device, result, error -> VerifyResult? in
                    var isMatch: gboolean = 0
                    guard fp_device_verify_finish(device, result, &isMatch, nil, error) != 0 else {
                        return nil
                    }
                    return isMatch != 0 ? .match(updated: nil) : .noMatch
                } start: { cancellable, reply in
                    fp_device_verify(
                        device,
                        enrolled.pointer,
                        cancellable,
                        nil,
                        nil,
                        nil,
                        readyCallback,
                        reply
                    )
                }
            }
            switch outcome {
            case .value(let result):
                if case .match = result { try requireNoSuspension(since: suspensions, "verify") }
                return result
            case .retry(let reason):
                observer(.retry(reason))
                return .retry(reason)
            }
        }
    }

    /// Compares one presentation with a gallery (`fp_device_identify()`).
    package func identify(
        among gallery: [GalleryEntry],
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> IdentifyResult {
        try await whenOpen("identify", needing: .identify, whenBusy) { () async throws(ReaderError) in
            let prints = try PrintArray(gallery, for: device)
            let suspensions = sleep.count
            let outcome = try await observed(by: observer) { () async throws(ReaderError) in
                try await attempt("identify") { device, result, error -> MatchedPrint? in
                    var match: OpaquePointer?
                    guard fp_device_identify_finish(device, result, &match, nil, error) != 0 else {
                        return nil
                    }
                    return MatchedPrint(taking: match)
                } start: { cancellable, reply in
                    fp_device_identify(
                        device,
                        prints.pointer,
                        cancellable,
                        nil,
                        nil,
                        nil,
                        readyCallback,
                        reply
                    )
                }
            }
            switch outcome {
            case .retry(let reason):
                observer(.retry(reason))
                return .retry(reason)
            case .value(let matched):
                guard let print = matched.pointer else { return .noMatch }
                // A print outside the gallery is a driver error, never a match.
                guard let id = prints.id(of: print) else {
                    throw ReaderError(
                        .untrustworthy,
                        operation: "identify",
                        cause: "a match outside of the gallery"
                    )
                }
                try requireNoSuspension(since: suspensions, "identify")
                return .match(id, updated: nil)
            }
        }
    }

    /// Captures one image (`fp_device_capture()`).
    ///
    /// If the finger cannot be read, another presentation is requested, until the task is cancelled.
    package func capture(
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> FingerprintImage {
        try await whenOpen("capture", needing: .capture, whenBusy) { () async throws(ReaderError) in
            while true {
                switch try await captureOnce(observer) {
                case .value(let image): return image
                case .retry(let reason): observer(.retry(reason))
                }
            }
        }
    }

    private func captureOnce(_ observer: @escaping ScanObserver) async throws(ReaderError)
        -> Attempt<FingerprintImage>
    {
        try await observed(by: observer) { () async throws(ReaderError) in
            try await attempt("capture") { device, result, error throws(ReaderError) in
                guard let image = fp_device_capture_finish(device, result, error) else { return nil }
                defer { g_object_unref(UnsafeMutableRawPointer(image)) }
                return try Self.copy(image)
            } start: { cancellable, reply in
                fp_device_capture(device, gboolean(1), cancellable, readyCallback, reply)
            }
        }
    }

    private static func copy(_ image: OpaquePointer) throws(ReaderError) -> FingerprintImage {
        var length: gsize = 0
        let data = fp_image_get_data(image, &length)
        let copy = FingerprintImage(
            width: Int(fp_image_get_width(image)),
            height: Int(fp_image_get_height(image)),
            pixels: Array(UnsafeBufferPointer(start: data, count: Int(length)))
        )
        guard let copy else {
            throw ReaderError(
                .untrustworthy,
                operation: "capture",
                cause: "the image's data does not match its size"
            )
        }
        return copy
    }
}

/// The print that an identification returned, retained while it is passed out of C's callback.
///
/// Unchecked: the pointer never changes, and GObject's reference counting is safe on any thread.
private final class MatchedPrint: @unchecked Sendable {
    let pointer: OpaquePointer?

    /// Transfer: full.
    ///
    /// The pointer is `nil` for "no match".
    init(taking pointer: OpaquePointer?) { self.pointer = pointer }

    deinit { if let pointer { g_object_unref(UnsafeMutableRawPointer(pointer)) } }
}

/// The `progress_data` of an enrollment, which C's destroy notification releases.
private final class EnrollProgress {
    private let total: Int
    private let onEvent: (ScanEvent) -> Void
    /// The presses so far, if the reader returns images.
    private var presses: [PressMinutiae] = []

    init(total: Int, onEvent: @escaping (ScanEvent) -> Void) {
        self.total = total
        self.onEvent = onEvent
    }

    static let callback: FpEnrollProgress = { device, completed, print, data, error in
        guard let data else { return }
        let progress = Unmanaged<EnrollProgress>.fromOpaque(data).takeUnretainedValue()
        progress.report(
            completed: Int(completed),
            press: print.flatMap { PressMinutiae(of: $0, from: device) },
            error: error.map { GErrorText(copying: $0) }
        )
    }

    private func report(completed: Int, press: PressMinutiae?, error: GErrorText?) {
        guard let error else {
            if let press {
                if presses.contains(where: { press.isAlike($0) }) { onEvent(.alike) }
                presses.append(press)
            }
            return onEvent(.stage(completed: completed, total: total))
        }
        switch CallFailure(error, operation: "enroll") {
        case .retry(let reason): onEvent(.retry(reason))
        case .error: break  // reported again at the end of the operation
        }
    }
}
