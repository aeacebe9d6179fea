// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlFingerprint
import WhorlService

@testable import whorl

/// The table of the errors, as the program and its reference give it.
struct ErrorTableTests {
    @Test(arguments: ServiceError.Code.allCases)
    func `the exit status of every error is one of the program's, and is the one that it ends with`(
        _ code: ServiceError.Code
    ) throws {
        let status = try #require(ExitStatus(rawValue: code.exitStatus))
        let failure = Failure(ServiceError(code))
        #expect(failure.status == status && status != .success)
        #expect(failure.code == code.rawValue && failure.rawValue == code.appleCode)
    }

    @Test func `a code that is not known yet ends with 1`() {
        #expect(Failure(ServiceError(.init(rawValue: "ofALaterVersion"))).status == .failure)
    }

    @Test(arguments: ReaderError.Code.allCases)
    func `a reader's error is the service's of the same meaning`(_ code: ReaderError.Code) {
        let error = ReaderError(code, operation: "test")
        #expect(Failure(error) == Failure(ServiceError(error)))
        #expect(ServiceError.Code.allCases.contains(ServiceError(error).code))
    }

    /// The numbers that scripts have relied on since 0.1.
    @Test func `the numbers of earlier versions stay`() {
        let statuses: [ServiceError.Code: Int32] = [
            .authenticationFailed: 10, .userCancel: 11, .userFallback: 12, .systemCancel: 13,
            .passcodeNotSet: 14, .biometryNotAvailable: 15, .biometryNotEnrolled: 16, .biometryLockout: 17,
            .appCancel: 18, .invalidContext: 19, .notInteractive: 20, .biometryDisconnected: 21,
            .biometryOptedOut: 1, .enrollmentTampered: 30, .enrollmentRolledBack: 30, .readerInUse: 35,
            .reasonMissing: 64, .readerNotChosen: 64, .storeFailed: 74, .chipUnavailable: 31, .noChip: 31,
            .chipBusy: 31, .chipCrowded: 31, .chipFailed: 31, .chipCleared: 31, .chipFull: 31,
            .ownerAuthorizationNeeded: 31, .passcodeWrong: 10, .passcodeThrottled: 10, .chipLockedOut: 10,
            .noSuchItem: 32, .noSuchFinger: 32, .enrollmentChanged: 33, .itemTampered: 33, .counterLost: 33,
            .measuredBootChanged: 33, .duplicate: 34, .fingerExists: 34, .itemExists: 34, .passcodeExists: 34,
        ]
        for (code, status) in statuses { #expect(code.exitStatus == status, "\(code.rawValue)") }
    }

    @Test func `the table in Docs/CommandLine.md has a row for each error`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "Docs/CommandLine.md"), encoding: .utf8)
        let section = try #require(page.components(separatedBy: "## Error codes in `--json`").last)
        let table = section.components(separatedBy: "\n").drop { !$0.hasPrefix("| code") }
            .prefix { $0.hasPrefix("|") }
        let rows = ServiceError.Code.allCases.map { code in
            "| `\(code.rawValue)` | \(code.exitStatus) |" + (code.appleCode.map { " \($0) |" } ?? " |")
        }
        let wanted = ["| code | status | Apple's number |", "|---|---|---|"] + rows
        #expect(Array(table) == wanted)
    }
}
