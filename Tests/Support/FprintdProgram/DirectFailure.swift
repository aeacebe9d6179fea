// SPDX-License-Identifier: Apache-2.0

import CWhorlFprint
import CWhorlGLib
import WhorlGLib
import WhorlLibfprint
import WhorlFingerprint
import WhorlFprint

/// The failure of one call of libfprint, as libfprint tells it.
struct DirectFailure: Error, Sendable, Hashable {
    /// The kind of a failure, which decides about the status that a client is told.
    enum Kind: Sendable, Hashable {
        /// The presentation could not be read; the operation can be started again.
        case retry(ScanRetry)
        /// The operation was cancelled.
        case cancelled
        /// The reader speaks another language than its driver.
        case protocolBroken
        /// The print is not in the reader.
        case printNotFound
        /// The reader has no room.
        case storageFull
        /// The finger is in the reader already.
        case duplicate
        /// The reader was unplugged.
        case unplugged
        /// The reader is too warm.
        case tooHot
        /// Another operation is running, or the reader is suspended.
        case busy
        /// Any other failure.
        case other
    }

    let kind: Kind
    /// The cause in libfprint's words.
    let cause: String

    init(_ kind: Kind, _ cause: String) {
        self.kind = kind
        self.cause = cause
    }

    init(_ failure: GErrorText?) {
        guard let failure else {
            self.init(.other, "neither a result nor an error")
            return
        }
        self.init(Kind(failure), failure.text)
    }

    init(_ error: ReaderError) { self.init(error.code == .unplugged ? .unplugged : .other, "\(error)") }
}

extension DirectFailure.Kind {
    fileprivate init(_ failure: GErrorText) {
        if failure.domain == fp_device_retry_quark() {
            self = .retry(ScanRetry(retryCode: failure.code))
        } else if failure.domain == g_io_error_quark(), failure.code == Int(G_IO_ERROR_CANCELLED.rawValue) {
            self = .cancelled
        } else if failure.domain == fp_device_error_quark() {
            self.init(deviceError: failure.code)
        } else {
            self = .other
        }
    }

    private init(deviceError code: Int) {
        switch code {
        case Int(FP_DEVICE_ERROR_PROTO.rawValue): self = .protocolBroken
        case Int(FP_DEVICE_ERROR_BUSY.rawValue): self = .busy
        case Int(FP_DEVICE_ERROR_DATA_NOT_FOUND.rawValue): self = .printNotFound
        case Int(FP_DEVICE_ERROR_DATA_FULL.rawValue): self = .storageFull
        case Int(FP_DEVICE_ERROR_DATA_DUPLICATE.rawValue): self = .duplicate
        case Int(FP_DEVICE_ERROR_REMOVED.rawValue): self = .unplugged
        case Int(FP_DEVICE_ERROR_TOO_HOT.rawValue): self = .tooHot
        default: self = .other
        }
    }
}

extension FprintStatus {
    /// Returns the status of a verification that a failure has ended or interrupted.
    static func verify(_ kind: DirectFailure.Kind) -> FprintStatus {
        switch kind {
        case .retry(let reason): .verifyRetry(reason)
        case .protocolBroken, .unplugged, .tooHot: .verifyDisconnected
        case .printNotFound, .cancelled: .noMatch
        case .storageFull, .duplicate, .busy, .other: .verifyFailure
        }
    }

    /// Returns the status of an enrollment that a failure has ended or interrupted.
    static func enroll(_ kind: DirectFailure.Kind) -> FprintStatus {
        switch kind {
        case .retry(let reason): .enrollRetry(reason)
        case .protocolBroken, .unplugged, .tooHot: .enrollDisconnected
        case .storageFull: .readerFull
        case .duplicate: .duplicate
        case .cancelled: .failed
        case .printNotFound, .busy, .other: .enrollFailure
        }
    }
}
