// SPDX-License-Identifier: Apache-2.0

import LibfprintReader
import Testing
import WhorlFingerprint

@testable import WhorlFprint

/// The words that clients are told.
@Suite struct `A status` {
    private static let kinds: [DirectFailure.Kind] =
        ScanRetry.allCases.map { .retry($0) } + [
            .cancelled, .protocolBroken, .printNotFound, .storageFull, .duplicate, .unplugged, .tooHot, .busy,
            .other,
        ]

    @Test(arguments: kinds) func `of a failure is never a success`(_ kind: DirectFailure.Kind) {
        #expect(FprintStatus.verify(kind).word != FprintStatus.match.word)
        #expect(FprintStatus.enroll(kind).word != FprintStatus.completed.word)
        #expect(FprintStatus.enroll(kind).word != FprintStatus.stagePassed.word)
    }

    @Test(arguments: kinds) func `ends the operation unless the finger is to be laid again`(
        _ kind: DirectFailure.Kind
    ) {
        let isRetry = if case .retry = kind { true } else { false }
        #expect(FprintStatus.verify(kind).isDone != isRetry)
        #expect(FprintStatus.enroll(kind).isDone != isRetry)
    }

    @Test func `has fprintd's words`() {
        #expect(FprintStatus.verify(.retry(.tooFast)).word == "verify-too-fast")
        #expect(FprintStatus.verify(.tooHot).word == "verify-disconnected")
        #expect(FprintStatus.verify(.printNotFound).word == "verify-no-match")
        #expect(FprintStatus.enroll(.storageFull).word == "enroll-data-full")
        #expect(FprintStatus.enroll(.cancelled).word == "enroll-failed")
        #expect(FprintStatus.enroll(.busy).word == "enroll-unknown-error")
    }
}
