// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import whorl

/// What `whorl doctor` says of the service's configuration.
struct ConfigurationDiagnosisTests {
    private func checks(_ text: String?) throws -> [Check] {
        let path = FileManager.default.temporaryDirectory.appending(path: "whorld-\(UUID()).conf").path
        try text?.write(toFile: path, atomically: false, encoding: .utf8)
        chmod(path, 0o644)
        defer { if text != nil { unlink(path) } }
        return ConfigurationDiagnosis(path: path).checks()
    }

    @Test func `without a file there is no check, and one in order is told`() throws {
        #expect(try checks(nil).isEmpty)
        let good = try checks("[Prompt]\nAgent=never\n")
        #expect(good.map(\.isOK) == [true] && good[0].detail.hasSuffix("is valid."))
    }

    @Test(.timeLimit(.minutes(1))) func `a file with more warnings than are read ends the check too`() throws
    {
        let groups = (0..<3500).map { "[Group\($0)]\nKey=1\n" }.joined()
        #expect(try checks(groups).count == 1)
    }

    @Test func `a value that is not allowed is a fault with the key and what is allowed`() throws {
        let bad = try checks("[Prompt]\nAgent=sometimes\n")
        #expect(bad.map(\.isOK) == [false])
        #expect(
            bad[0].detail.contains(
                "invalid value “sometimes” for [Prompt] Agent. Allowed: required, preferred, never."
            )
        )
        #expect(bad[0].remedy?.contains("systemctl restart") == true)
    }

    @Test func `an unknown name is a warning with the file to correct`() throws {
        let odd = try checks("[Prompt]\nAgents=never\n")
        #expect(odd.map(\.isOK) == [true] && odd[0].detail.contains("unknown setting [Prompt] Agents"))
        #expect(odd[0].remedy?.contains("Fix the name") == true)
    }
}
