// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoftwareTPM
import Testing

/// Two programs at once with one directory and one TPM, which has room for three objects and no resource manager.
@Suite(.timeLimit(.minutes(60)), .enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct TwoProgramsTests {
    private let session: VaultSession
    private static let rounds = 25

    init() throws { session = try VaultSession() }

    @Test func `both keep, get, delete and sign round after round, and neither loses anything`() async throws
    {
        try await session.enroll()
        #expect(try await session.sh("\"$W\" key create k --access biometry-any > k.pem").status == 0)
        let session = session
        let outcomes = try await withThrowingTaskGroup(of: WhorlProgram.Outcome.self) { group in
            for name in ["ada", "bob"] {
                group.addTask { try await session.sh(Self.loop(name), reader: "mock:match") }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for outcome in outcomes {
            #expect(outcome.status == 0 && outcome.out == "\(Self.rounds) rounds\n", "\(outcome)")
        }
        // Each has deleted the first of a round, and kept the second.
        let list = try await session.run(["secret", "list", "--json"]).answer("result")?["secrets"]
        let names = (list as? [[String: Any]])?.compactMap { $0["name"] as? String }
        let kept = ["ada", "bob"].flatMap { name in (1...Self.rounds).map { "\(name)-kept-\($0)" } }
        #expect(Set(names ?? []) == Set(kept) && names?.count == kept.count, "\(names ?? [])")
        let last = try await session.run(["secret", "get", "bob-kept-\(Self.rounds)"], reader: "mock:match")
        #expect(last.out == "bob kept \(Self.rounds)", "\(last)")
        #expect(try session.tpm.leaks().isEmpty)
    }

    /// Stops at the first thing that is not as it should be, and names it.
    private static func loop(_ name: String) -> String {
        """
        fail() { echo "round $i: $1" >&2; exit 1; }
        i=0
        while [ $i -lt \(rounds) ]; do
            i=$((i + 1))
            printf '%s' "\(name) $i" | "$W" secret add \(name)-$i --access biometry-any >/dev/null || fail add
            printf '%s' "\(name) kept $i" | "$W" secret add \(name)-kept-$i --access none >/dev/null || fail keep
            [ "$("$W" secret get \(name)-$i)" = "\(name) $i" ] || fail get
            printf '%s' "\(name) $i" > \(name).m
            "$W" key sign k < \(name).m > \(name).sig || fail sign
            openssl dgst -sha256 -verify k.pem -signature \(name).sig \(name).m >/dev/null || fail verify
            "$W" secret delete \(name)-$i >/dev/null || fail delete
        done
        echo "$i rounds"
        """
    }
}
