// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlService

/// The contract for programs: events, then exactly one result or error line, and nothing else on standard output.
struct JSONTests {
    private let whorl: WhorlProgram

    init() throws { whorl = try WhorlProgram() }

    @Test func `devices gives every field`() async throws {
        let outcome = try await whorl.run(["devices", "--json"], reader: "mock:stages=3,match")
        #expect(
            outcome.out == """
                {"result":{"devices":[{"id":"mock-0","driver":"mock","name":"Mock reader","scanType":"press",\
                "features":["capture","identify","verify"],"enrollStages":3,"storage":"host","strength":"none",\
                "readerKind":"mock"}],"readerKind":"mock","hardware":false}}

                """
        )
        #expect(outcome.err == "")
    }

    @Test func `options may stand before the command`() async throws {
        let outcome = try await whorl.run(["--json", "--reader", "mock:match", "devices"])
        #expect(outcome.status == 0)
        #expect(outcome.answer("result")?["readerKind"] as? String == "mock")
    }

    @Test func `enroll tells one touch for each press`() async throws {
        let outcome = try await whorl.run(
            ["enroll", "right-index-finger", "--json"],
            reader: "mock:stages=2,match,retry:center-finger,match,match"
        )
        #expect(outcome.status == 0)
        let events = outcome.lines.dropLast().filter { !$0.contains("\"finger\"") }
        #expect(
            events == [
                #"{"event":"touch"}"#, #"{"event":"stage","completed":1,"total":2}"#, #"{"event":"touch"}"#,
                #"{"event":"retry","reason":"centerFinger"}"#, #"{"event":"touch"}"#,
                #"{"event":"stage","completed":2,"total":2}"#, #"{"event":"touch"}"#,
            ]
        )
        let result = outcome.answer("result")
        #expect(result?["finger"] as? String == "right-index-finger")
        #expect(result?["stages"] as? Int == 2)
        #expect((result?["id"] as? String)?.count == 32)
        #expect(result?["readerKind"] as? String == "mock")
        #expect(outcome.err == "")
    }

    @Test func `evaluate gives method, finger and domain state`() async throws {
        try await whorl.enroll()
        let outcome = try await whorl.run(
            ["evaluate", "--reason", "r", "--json"],
            reader: "mock:no-match,match"
        )
        #expect(outcome.status == 0)
        #expect(outcome.lines.contains(#"{"event":"noMatch","remaining":2}"#))
        #expect(outcome.lines.filter { $0 == #"{"event":"touch"}"# }.count == 2)
        let result = outcome.answer("result")
        #expect(result?["success"] as? Bool == true)
        #expect(result?["method"] as? String == "biometry")
        #expect(result?["finger"] as? String == "right-index-finger")
        let state =
            try await whorl.run(["domain-state", "--json"]).answer("result")?["domainState"] as? String
        #expect(result?["domainState"] as? String == state)
        #expect(state != nil)
    }

    @Test func `an error has Apple's number where there is one`() async throws {
        let outcome = try await whorl.run(["can-evaluate", "--json"], reader: "mock:match")
        #expect(outcome.status == 16)
        let error = ServiceError(.biometryNotEnrolled)
        #expect(
            outcome.out == """
                {"error":{"code":"biometryNotEnrolled","rawValue":-7,\
                "message":"\(error.message)","reason":"",\
                "recovery":"\(error.recovery)","readerKind":"mock"}}

                """
        )
        #expect(outcome.err == "")
    }

    @Test func `can-evaluate, fingers, remove, log and doctor keep to their shapes`() async throws {
        try await whorl.enroll()
        let can = try await whorl.run(["can-evaluate", "--json"], reader: "mock:match").answer("result")
        #expect(can?["canEvaluate"] as? Bool == true && can?["biometryType"] as? String == "touchID")
        #expect(can?["domainState"] is String)

        let fingers =
            try await whorl.run(["fingers", "--json"]).answer("result")?["fingers"] as? [[String: Any]]
        #expect(fingers?.count == 1)
        #expect(
            Set(fingers?.first?.keys ?? [:].keys) == ["id", "finger", "reader", "readerAccess", "enrolledAt"]
        )

        _ = try await whorl.run(["evaluate", "--reason", "r"], reader: "mock:match")
        let log = try await whorl.run(["log", "--json"]).answer("result")?["entries"] as? [[String: Any]]
        #expect(
            log?.last?["event"] as? String == "evaluation" && log?.last?["outcome"] as? String == "matched"
        )

        let doctor = try await whorl.run(["doctor", "--json"], reader: "mock:match").answer("result")
        let checks = doctor?["checks"] as? [[String: Any]]
        #expect(checks?.isEmpty == false)
        #expect(
            checks?.allSatisfy { $0["name"] is String && $0["ok"] is Bool && $0["detail"] is String } == true
        )

        let removed = try await whorl.run(["remove", "--all", "--json"], reader: "mock:match").answer(
            "result"
        )
        #expect(
            (removed?["removed"] as? [[String: Any]])?.first?["finger"] as? String == "right-index-finger"
        )
    }

    @Test(arguments: [
        ["enroll", "rihgt-index", "--json"], ["evaluate", "--json"], ["frobnicate", "--json"],
        ["evaluate", "--reason", "r", "--timeout", "0", "--json"], ["devices", "frobnicate", "--json"],
    ])
    func `a command that is not understood is an error line too`(arguments: [String]) async throws {
        let outcome = try await whorl.run(arguments)
        #expect(outcome.status == 64)
        #expect(outcome.lines.count == 1)
        #expect(outcome.errorCode == "usage")
        #expect(outcome.err == "")
    }

    @Test func `text from outside is escaped`() async throws {
        let outcome = try await whorl.run(
            ["devices", "--json"],
            reader: "mock:name=a\u{1B}[2J\u{9B}\"\\\u{202E}b,match"
        )
        #expect(outcome.out.contains(#""name":"a\u001b[2J\u009b\"\\\u202eb""#))
    }
}
