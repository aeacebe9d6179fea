// SPDX-License-Identifier: Apache-2.0

import CWhorlFprint
import CWhorlGLib
import Testing
import WhorlFingerprint
import WhorlGLib

@testable import WhorlLibfprint

/// Numbers that this version does not know, as a newer libfprint may give them.
struct NewerLibraryTests {
    private static let known: FpDeviceFeature.RawValue = (1 << 10) - 1

    @Test func `features that are not known are left out, and the known ones stay`() {
        #expect(ReaderFeatures.known.rawValue == Self.known)
        #expect(ReaderFeatures(FpDeviceFeature(rawValue: .max)) == .known)
        for bit in 0..<32 {
            let features = ReaderFeatures(FpDeviceFeature(rawValue: 1 << bit | 1 << 2))
            #expect(features.contains(.verify))
            #expect(features.rawValue == (1 << bit | 1 << 2) & Self.known)
            #expect(features.names.count == features.rawValue.nonzeroBitCount)
        }
    }

    @Test func `a feature that is not known makes no reader keep prints, or match on its chip`() {
        for bit in 10..<32 {
            let features = ReaderFeatures(FpDeviceFeature(rawValue: 1 << bit))
            #expect(features.isEmpty)
            #expect(!features.contains(.storage))
        }
    }

    @Test(arguments: [4, 5, 6, 255, Int(Int32.max), -1, .min])
    func `a reason for another try that is not known is the general one`(code: Int) {
        #expect(ScanRetry(retryCode: code) == (code == 4 ? .tooFast : .general))
    }

    @Test(arguments: [10, 42, 0x102, 0x1ff, .max, -1, .min] as [Int32])
    func `an error that is not known is a malfunction, never a result`(code: Int32) {
        var given = GError(domain: fp_device_error_quark(), code: code, message: nil)
        let failure = GErrorText(copying: &given)
        #expect(ReaderError.Code(failure) == .malfunction)
        guard case .error(let error) = CallFailure(failure, operation: "verify") else {
            Issue.record("the error became \"try again\"")
            return
        }
        #expect(error.code == .malfunction)
    }
}
