// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlFingerprint
import WhorlService

@testable import WhorlFprint

/// The words of the engine, as fprintd's clients hear them.
@Suite struct `An error of the engine` {
    @Test(arguments: ServiceError.Code.allCases)
    func `ends a verification without a match`(_ code: ServiceError.Code) {
        let status = FprintStatus.verify(ServiceError(code))
        #expect(status != .match)
        #expect(status.isDone)
    }

    @Test func `is no failed try when fingers are locked, so that clients take the password`() {
        #expect(FprintStatus.verify(ServiceError(.biometryLockout)).word == "verify-unknown-error")
        #expect(FprintStatus.verify(ServiceError(.authenticationFailed)) == .noMatch)
    }

    @Test(arguments: ReaderError.Code.allCases)
    func `of the reader ends an enrollment without a finger`(_ code: ReaderError.Code) {
        let error = ServiceError(ReaderError(code, operation: "enroll"))
        let status = FprintStatus.enroll(error)
        #expect(status != .completed)
        #expect(status.isDone)
    }

    @Test(arguments: ServiceError.Code.allCases)
    func `of the set ends an enrollment without a finger`(_ code: ServiceError.Code) {
        let status = FprintStatus.enroll(ServiceError(code))
        #expect(status != .completed)
        #expect(status.isDone)
    }
}

/// What one enrollment or verification says.
@Suite struct `A report of statuses` {
    @Test func `sends nothing after the status that ends it`() {
        let told = Told()
        let report = StatusReport { told.take($0) }
        report.tell(.stagePassed)
        report.tell(.noMatch)
        report.tell(.match)
        #expect(told.all == [.stagePassed, .noMatch])
        #expect(report.hasEnded)
    }

    @Test func `of an enrollment tells each stage, and asks again after a touch that confirmed nothing`() {
        let told = Told()
        let stages = EnrollmentReporter(StatusReport { told.take($0) }, {})
        stages.tell(.scan(.stage(completed: 1, total: 1)))
        stages.tell(.confirming(triesLeft: 3))
        stages.tell(.confirming(triesLeft: 2))
        #expect(told.all.map(\.word) == ["enroll-stage-passed", "enroll-retry-scan"])
    }
}

/// The actions of polkit that fprintd's clients need.
@Suite struct `The rights of a client` {
    @Test(arguments: FprintAction.allCases)
    func `are actions of the installed policies, about which the service may ask`(_ action: FprintAction)
        throws
    {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let files = ["io.whorl.policy", "fprintd/net.reactivated.fprint.device.policy"]
        let texts = try files.map {
            try String(contentsOf: root.appending(path: "systemd/\($0)"), encoding: .utf8)
        }
        let text = try #require(texts.first { $0.contains("<action id=\"\(action.rawValue)\">") })
        let rest = text.components(separatedBy: "<action id=\"\(action.rawValue)\">")[1]
        let own = rest.components(separatedBy: "</action>")[0]
        #expect(own.contains("<annotate key=\"org.freedesktop.policykit.owner\">unix-user:whorl</annotate>"))
    }

    @Test func `to change fingers are asked for each time`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "systemd/io.whorl.policy"), encoding: .utf8)
        // An administrator with a list of people is asked once; the password counts for that process alone.
        let actions = text.components(separatedBy: "<action id=\"").filter { $0.contains("_keep") }
        #expect(actions.map { $0.prefix { $0 != "\"" } } == ["io.whorl.enroll-others"])
    }
}

/// Takes statuses, on whatever thread they come.
private final class Told: @unchecked Sendable {
    private let lock = NSLock()
    private var kept: [FprintStatus] = []

    var all: [FprintStatus] { lock.withLock { kept } }

    func take(_ status: FprintStatus) { lock.withLock { kept.append(status) } }
}
