// SPDX-License-Identifier: Apache-2.0

import Testing
import WhorlFingerprint

@testable import WhorlFprint

/// The words that clients are told.
@Suite struct `A status` {
    @Test(arguments: ScanRetry.allCases)
    func `of a touch that could not be read does not end the operation`(_ reason: ScanRetry) {
        for status in [FprintStatus.verifyRetry(reason), .enrollRetry(reason)] {
            #expect(!status.isDone && status != .stagePassed)
        }
    }

    @Test func `has fprintd's words`() {
        #expect(FprintStatus.verifyRetry(.tooFast).word == "verify-too-fast")
        #expect(FprintStatus.enrollRetry(.removeFinger).word == "enroll-remove-and-retry")
        #expect(FprintStatus.verifyDisconnected.word == "verify-disconnected")
        #expect(FprintStatus.readerFull.word == "enroll-data-full")
        #expect(FprintStatus.enrollFailure.word == "enroll-unknown-error")
    }
}
