// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlFingerprint
import Foundation
import Testing

@testable import whorl

struct CommandNameTests {
    /// Without a name of its own a command is asked for its type's, which costs three searches through all
    /// conformances of the program at every start.
    @Test func `each command has its name written down`() {
        func check(_ command: any ParsableCommand.Type) {
            #expect(command.configuration.commandName != nil, "\(command)")
            command.configuration.subcommands.forEach(check)
        }
        check(Whorl.self)
    }
}

struct LocalTimeTests {
    /// In a process of its own, since the zone is the whole process's.
    @Test func `a time is shown in the zone of this machine`() async {
        await #expect(processExitsWith: .success) {
            setenv("TZ", "UTC-5:30", 1)
            tzset()
            let time = Date(timeIntervalSince1970: 1_767_225_599.9)  // 2025-12-31T23:59:59.9Z
            let texts = [LocalTime.second(time), LocalTime.day(time), LocalTime.clock(time)]
            exit(texts == ["2026-01-01 05:29:59", "2026-01-01", "05:29:59"] ? 0 : 1)
        }
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, 1e300])
    func `a time that no calendar has does not stop anything`(seconds: Double) {
        #expect(LocalTime.second(Date(timeIntervalSince1970: seconds)) == "?")
    }
}

struct StrengthTests {
    private func check(_ strength: ReaderStrength) -> Check? {
        ReaderDiagnosis.strength(
            ReaderInfo(
                id: ReaderID(rawValue: "x-1"),
                driver: "x",
                name: "X",
                kind: .hardware,
                scanType: .press,
                features: [],
                enrollStages: 5,
                storage: .host,
                strength: strength,
                access: ReaderAccess(.pretended)
            )
        )
    }

    @Test func `doctor tells where a stranger passes more easily`() {
        #expect(check(.minutiaeScore(threshold: 40))?.verdict == .good)
        let weak = check(.minutiaeScore(threshold: 24))
        #expect(weak?.verdict == .note && weak?.remedy != nil)
        #expect(weak?.detail.contains("24") == true)
        #expect(check(.onReader)?.verdict == .note)
        #expect(check(.none) == nil)
    }
}
