// SPDX-License-Identifier: Apache-2.0

internal import CWhorlFprint
internal import CWhorlGLib
internal import WhorlGLib
package import WhorlFingerprint

// Conversions of libfprint 1.94's constants to Swift. An unlisted value comes from a newer libfprint or a broken
// driver. It is converted to the most cautious value, and never traps.

extension ReaderInfo.ScanType {
    /// Converts an `FpScanType`.
    init(_ type: FpScanType) {
        self = type == FP_SCAN_TYPE_SWIPE ? .swipe : .press
    }
}

extension ReaderTemperature {
    /// Converts an `FpTemperature`.
    ///
    /// An unknown value counts as hot.
    init(_ temperature: FpTemperature) {
        switch temperature {
        case FP_TEMPERATURE_COLD: self = .cold
        case FP_TEMPERATURE_WARM: self = .warm
        default: self = .hot
        }
    }
}

extension FingerStatus {
    /// Converts `FpFingerStatusFlags`.
    init(_ flags: FpFingerStatusFlags) {
        self.init(
            needed: flags.rawValue & FP_FINGER_STATUS_NEEDED.rawValue != 0,
            present: flags.rawValue & FP_FINGER_STATUS_PRESENT.rawValue != 0
        )
    }
}

extension ReaderFeatures {
    /// Converts an `FpDeviceFeature`, whose bits ``ReaderFeatures`` uses as well.
    ///
    /// Features that only a newer libfprint has are left out.
    init(_ features: FpDeviceFeature) {
        self = ReaderFeatures(rawValue: UInt32(truncatingIfNeeded: features.rawValue)).intersection(.known)
    }
}

extension ScanRetry {
    /// Converts an error code in the domain `fp-device-retry-quark`.
    ///
    /// Code 4 is `FP_DEVICE_RETRY_TOO_FAST`, which libfprint 1.94.5 does not define yet.
    package init(retryCode: Int) {
        switch retryCode {
        case Int(FP_DEVICE_RETRY_TOO_SHORT.rawValue): self = .tooShort
        case Int(FP_DEVICE_RETRY_CENTER_FINGER.rawValue): self = .centerFinger
        case Int(FP_DEVICE_RETRY_REMOVE_FINGER.rawValue): self = .removeFinger
        case 4: self = .tooFast
        default: self = .general
        }
    }
}

extension Finger {
    /// The corresponding `FpFinger`.
    var cValue: FpFinger { FpFinger(rawValue: UInt32(number)) }

    /// Converts an `FpFinger`, or returns `nil` for `FP_FINGER_UNKNOWN` and for anything that is not a finger.
    init?(_ value: FpFinger) {
        guard let finger = Finger.allCases.first(where: { $0.cValue == value }) else { return nil }
        self = finger
    }
}

/// A failure of a C call, which is either the result "try again" or an error.
enum CallFailure {
    case retry(ScanRetry)
    case error(ReaderError)

    init(_ failure: GErrorText, operation: String) {
        if failure.domain == fp_device_retry_quark() {
            self = .retry(ScanRetry(retryCode: failure.code))
        } else {
            self = .error(ReaderError(ReaderError.Code(failure), operation: operation, cause: failure.text))
        }
    }

    /// The failure as an error, for operations that cannot handle "try again".
    var asError: ReaderError {
        switch self {
        case .error(let error): error
        case .retry(let reason):
            ReaderError(.malfunction, operation: "scan", cause: "retry: \(reason.rawValue)")
        }
    }
}

extension ReaderError.Code {
    /// Converts an error from libfprint, GIO or gusb.
    init(_ failure: GErrorText) {
        if failure.domain == fp_device_error_quark() {
            self.init(deviceError: failure.code)
        } else if failure.domain == g_io_error_quark() {
            self.init(ioError: failure.code)
        } else if let name = g_quark_to_string(failure.domain),
            String(cString: name).hasPrefix("g-usb-device-error")
        {
            self.init(usbError: failure.code, text: failure.text)
        } else {
            self = .malfunction
        }
    }

    /// Converts an `FpDeviceError`.
    private init(deviceError code: Int) {
        switch code {
        case Int(FP_DEVICE_ERROR_NOT_SUPPORTED.rawValue): self = .unsupported
        case Int(FP_DEVICE_ERROR_NOT_OPEN.rawValue): self = .notOpen
        case Int(FP_DEVICE_ERROR_BUSY.rawValue): self = .busy
        case Int(FP_DEVICE_ERROR_DATA_INVALID.rawValue): self = .templateInvalid
        case Int(FP_DEVICE_ERROR_DATA_NOT_FOUND.rawValue): self = .printNotFound
        case Int(FP_DEVICE_ERROR_DATA_FULL.rawValue): self = .storageFull
        case Int(FP_DEVICE_ERROR_DATA_DUPLICATE.rawValue): self = .duplicate
        case Int(FP_DEVICE_ERROR_REMOVED.rawValue): self = .unplugged
        case Int(FP_DEVICE_ERROR_TOO_HOT.rawValue): self = .tooHot
        default: self = .malfunction
        }
    }

    /// Converts a `GIOErrorEnum`.
    private init(ioError code: Int) {
        switch code {
        case Int(G_IO_ERROR_CANCELLED.rawValue): self = .cancelled
        case Int(G_IO_ERROR_PERMISSION_DENIED.rawValue): self = .permissionDenied
        case Int(G_IO_ERROR_BUSY.rawValue), Int(G_IO_ERROR_ADDRESS_IN_USE.rawValue): self = .inUse
        case Int(G_IO_ERROR_NOT_SUPPORTED.rawValue): self = .unsupported
        case Int(G_IO_ERROR_NOT_FOUND.rawValue): self = .unplugged
        default: self = .malfunction
        }
    }

    /// Converts a gusb error.
    ///
    /// libfprint does not install gusb's header, so the codes are written out here. If libusb failed, the text ends
    /// with libusb's own code, which takes precedence, because gusb 0.3 reports a claimed interface as "no device".
    private init(usbError code: Int, text: String) {
        if let match = text.firstMatch(of: /\[(-\d+)\]$/), let number = Int(match.1),
            let known = ReaderError.Code(libusbError: number)
        {
            self = known
            return
        }
        switch code {
        case 3: self = .unsupported  // G_USB_DEVICE_ERROR_NOT_SUPPORTED
        case 4: self = .unplugged  // G_USB_DEVICE_ERROR_NO_DEVICE
        case 7: self = .cancelled  // G_USB_DEVICE_ERROR_CANCELLED
        case 9: self = .permissionDenied  // G_USB_DEVICE_ERROR_PERMISSION_DENIED
        case 10: self = .inUse  // G_USB_DEVICE_ERROR_BUSY, since gusb 0.4
        default: self = .malfunction
        }
    }

    /// Converts a `libusb_error`, or returns `nil` for errors that gusb's code describes just as well.
    private init?(libusbError number: Int) {
        switch number {
        case -3: self = .permissionDenied  // LIBUSB_ERROR_ACCESS
        case -4: self = .unplugged  // LIBUSB_ERROR_NO_DEVICE
        case -6: self = .inUse  // LIBUSB_ERROR_BUSY
        case -12: self = .unsupported  // LIBUSB_ERROR_NOT_SUPPORTED
        default: return nil
        }
    }
}

extension ReaderStrength {
    /// Creates a strength that describes a driver's matcher.
    ///
    /// The thresholds are those that libfprint's image drivers set (`bz3_threshold`, 1.94). An application can neither
    /// read nor raise them. The default is 40. A smaller sensor requires a lower one.
    ///
    /// A virtual driver's matches have no strength, even with libfprint's own matcher, because any program that can
    /// reach the socket can send the image.
    init(driver: String, kind: ReaderInfo.Kind, storage: ReaderInfo.Storage) {
        guard kind == .hardware else {
            self = .none
            return
        }
        switch storage {
        case .reader: self = .onReader
        case .host: self = .minutiaeScore(threshold: ReaderStrength.thresholds[driver] ?? 40)
        }
    }

    private static let thresholds: [String: Int] = [
        "elan": 24, "elanspi": 24, "nb1010": 24, "vfs0050": 24, "vfs101": 24, "vfs301": 24,
        "egis0570": 25, "upeksonly": 25, "upektc": 30,
        "aes1610": 20, "aes1660": 20, "aes2660": 20, "upektc_img": 20, "vfs5011": 20, "vfs7552": 20,
        "aes3500": 9, "aes4000": 9,
    ]
}
