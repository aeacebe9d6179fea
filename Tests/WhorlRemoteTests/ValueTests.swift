// SPDX-License-Identifier: Apache-2.0

import FacesOverSocket
import Foundation
import WhorlSecretMemory
import SoftwareTPM
import Testing
@testable import WhorlIPC
import WhorlService

@testable import WhorlRemote

/// Values of every method's parameters, as its interface describes them, given to an engine that runs.
///
/// The numbers are made from a seed, so a finding is found again: `WHORL_VALUES` is the number of calls and `WHORL_SEED`
/// the seed, both more by night. The last call is kept in a file, for the case that the engine ends.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"), .timeLimit(.minutes(60)))
struct ValueTests {
    private static func number(_ name: String, _ standard: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? standard
    }

    @Test func `end no engine, whatever they are`() async throws {
        let seed = Self.number("WHORL_SEED", 20)
        var source = ValueSource(seed: UInt64(bitPattern: Int64(seed)))
        let machine = try await HostMachine(PromptRules(), reader: "mock:then=match", passcode: "2468 hunter")
        let methods = try InterfaceText.all.filter { $0.name != "io.whorl.Login" }.flatMap {
            try InterfaceReader($0.text).methods
        }
        #expect(methods.count > 40)
        let last = FileManager.default.temporaryDirectory.appending(path: "whorl-last-value.json")
        var answered: [String: Int] = [:]
        for count in 0..<Self.number("WHORL_VALUES", 600) {
            // Each method in turn: none is left to luck.
            let method = methods[count % methods.count]
            let call = source.call(method)
            try Data("seed \(seed), call \(count): ".utf8 + call.bytes).write(to: last)
            answered[method.name, default: 0] += try await answer(call, at: machine) ? 1 : 0
        }
        // Those that go on until the caller hangs up have no answer.
        let silent = methods.map(\.name).filter { answered[$0] == nil || answered[$0] == 0 }
        #expect(silent.count < 8, "\(silent)")
        let alive = try await machine.services.ask(ListItems())
        #expect(alive.count < 10_000)
        try? FileManager.default.removeItem(at: last)
    }

    /// Makes a call, and hangs up when there is no answer for a while.
    private func answer(_ call: ValueSource.Call, at machine: HostMachine) async throws -> Bool {
        let connection = try machine.transport.connect()
        let descriptors = try call.secrets.map { secret in
            try SecretDescriptor.make(secret)
        }
        let channel = Channel(connection)
        let (frames, sink) = AsyncStream.makeStream(of: Bool.self)
        channel.start { frame in
            let isLast = !String(decoding: frame.bytes, as: UTF8.self).contains(#""continues":true"#)
            if isLast { sink.yield(true) }
        } onEnd: { _ in
            sink.yield(true)
        }
        channel.send(call.bytes, descriptors)
        let late = Task {
            try await Task.sleep(for: .milliseconds(1500))
            sink.yield(false)
        }
        defer {
            late.cancel()
            channel.close()
        }
        for await isAnswered in frames { return isAnswered }
        return false
    }
}

/// Makes calls from a seed.
struct ValueSource {
    struct Call {
        let bytes: [UInt8]
        let secrets: [[UInt8]]
    }

    /// SplitMix64: small, and the same everywhere.
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    private mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

    private mutating func pick<Value>(_ values: [Value]) -> Value { values[below(values.count)] }

    mutating func call(_ method: InterfaceMethod) -> Call {
        var object = value(method.parameters, method, 0)
        if below(20) == 0 { object = "[]" }
        let more = below(2) == 0 ? #","more":true"# : ""
        let text = #"{"method":"\#(method.name)","parameters":\#(object)\#(more)}"#
        let secrets = (0..<below(4)).map { _ in
            let count = pick([0, 1, 4, 11, 32, 128, 5000])
            return (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
        }
        return Call(
            bytes: Array(text.utf8),
            secrets: below(3) == 0 ? secrets : [Array("2468 hunter".utf8)] + secrets
        )
    }

    private mutating func value(
        _ type: InterfaceType,
        _ method: InterfaceMethod,
        _ depth: Int,
        _ name: String = ""
    ) -> String {
        // Now and then another type, and too deep is cut.
        if below(60) == 0 || depth > 6 {
            return pick(["null", "0", "true", "\"\"", "[]", "{}", "[[]]", "1e308"])
        }
        switch type {
        case .bool: return pick(["true", "false"])
        case .int:
            return pick([
                "0", "1", "2", "-1", "7", "64", "1000", "60000", "2147483648", "4294967295",
                "-9223372036854775808",
                "9223372036854775807", "1099511627776",
            ])
        case .float: return pick(["0", "-1.5", "1e300", "-1e300", "0.1", "1700000000", "5e-324"])
        case .string: return quoted(text(name))
        case .optional(let inner): return below(2) == 0 ? "null" : value(inner, method, depth + 1, name)
        case .list(let inner):
            let count = pick([0, 1, 1, 2, 3, 9, 40])
            return "[" + (0..<count).map { _ in value(inner, method, depth + 1, name) }.joined(separator: ",")
                + "]"
        case .dictionary(let inner):
            var keys: Set<[UInt8]> = []
            let members = (0..<below(4)).compactMap { _ -> String? in
                let key = text("")
                guard keys.insert(Array(key.utf8)).inserted else { return nil }
                return "\(quoted(key)):\(value(inner, method, depth + 1))"
            }
            return "{" + members.joined(separator: ",") + "}"
        case .words(let words): return quoted(below(12) == 0 ? text(name) : pick(words))
        case .choice(let members) where below(12) != 0:
            let member = pick(members)
            guard case .optional(let inner) = member.type else { return "{}" }
            return "{\(quoted(member.name)):\(value(inner, method, depth + 1, member.name))}"
        case .members(let members), .choice(let members):
            let kept = members.filter { _ in below(25) != 0 }
            let parts = kept.map { "\(quoted($0.name)):\(value($0.type, method, depth + 1, $0.name))" }
            return "{" + parts.joined(separator: ",") + "}"
        case .named(let type):
            guard let known = method.types[type] else { return "{}" }
            return value(known, method, depth, name)
        }
    }

    private mutating func text(_ name: String) -> String {
        // Most of the time a word that means something there, so that the values get further than the first check.
        if below(3) != 0, let words = Self.words[name] { return pick(words) }
        return pick(Self.texts)
    }

    private static let words: [String: [String]] = [
        "access": [
            "none", "biometry-any", "biometry-current-set", "passcode", "user-presence",
            "none+application-password", "biometry-any+pcrs:7", "biometry-any-or-passcode",
        ],
        "profile": ["ada"], "finger": ["left-thumb", "right-index-finger", "leftThumb"],
        "accessible": ["ak", "ck", "aku", "akpu", "dk"], "policy": ["biometrics", "device-owner"],
        "name": [
            "a", "wifi", "a\u{0CCB}", "a\u{0CC6}\u{0CC2}\u{0CD5}", "a\u{0CCA}\u{0CD5}", "caf\u{E9}",
            "cafe\u{301}",
        ],
    ]

    private static let texts: [String] = [
        "", "a", "x", "secret", "AAAA", "AXg=", "AWFjY3Q=", "\u{212A}eychain", "\u{0}", "\n", "\u{1B}[31m",
        "\u{202E}x",
        "e\u{301}", "\u{E9}", "\u{1F511}", "\u{FDFA}", "a\u{0CC6}\u{0CC2}\u{0CD5}", "a\u{0CCB}",
        "../../etc/passwd",
        "mock:then=match", "ada", "none", "biometry-any", "left-thumb", "-1", "1970-01-01", "\u{FFFF}",
        "\u{10FFFF}",
        String(repeating: "x", count: 300), String(repeating: "e\u{301}", count: 200),
        String(repeating: "\u{0CC6}\u{0CC2}\u{0CD5}", count: 70), String(repeating: "y", count: 60_000),
    ]

    private func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\u{0}"..."\u{1F}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
