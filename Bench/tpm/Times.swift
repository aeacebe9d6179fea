// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlTPM
import WhorlVault

/// From the match to the product, in turns: Whorl's library, a C program on ESAPI that sends the same commands, and
/// tpm2-tools.
///
/// Each has a TPM of its own, since one without a resource manager has three slots.
func compareTimes(_ subject: Subject, c: String, script: String, _ rounds: Int, _ table: Table) async throws {
    let cases: [(Product, String)] = [
        (.signature, "biometry-current-set"), (.secret, "biometry-current-set"),
        (.signature, "biometry-current-set-or-passcode"),
    ]
    for (product, access) in cases {
        let counterparts = [
            try await Counterpart(c, product, access, forTools: false),
            try await Counterpart(script, product, access, forTools: true),
        ]
        let (vault, device) = try subject.open()
        var figures = (0..<3).map { _ in Figures(presses: 1) }
        // Who is first, changes; the first round does not count.
        var order = [0, 1, 2]
        for round in -1..<rounds {
            for lane in order {
                // The first use is not counted: the connection may have been closed since the last turn. The tools take
                // so long that one more is enough.
                for use in 0...(lane == 2 ? 1 : 10) {
                    let nanoseconds =
                        if lane == 0 {
                            try await timed { try await subject.release(product, access, from: vault) }
                        } else {
                            try counterparts[lane - 1].use()
                        }
                    if use > 0, round >= 0 { figures[lane].append(nanoseconds: nanoseconds, press: 0) }
                }
            }
            order.append(order.removeFirst())
        }
        await device.close()
        for counterpart in counterparts { counterpart.stop() }
        let what = "match → \(product.rawValue), `\(access)`, warm, on swtpm"
        table.row("\(what), against C on ESAPI", figures[0], against: figures[1], bar: 1.2)
        let script = "the same, against the shortest script of tpm2-tools"
        table.row(script, figures[0], against: figures[2], bar: 0.3)
    }
}

private func timed(_ body: () async throws -> Void) async throws -> Int {
    let start = ContinuousClock.now
    try await body()
    let (seconds, attoseconds) = (ContinuousClock.now - start).components
    return Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
}
