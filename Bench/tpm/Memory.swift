// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlTPM
import WhorlVault

/// Signs again and again in this process, and sees whether its memory grows.
func watchMemory(_ subject: Subject, _ signatures: Int, _ table: Table) async throws {
    let (vault, device) = try subject.open()
    func sign(_ times: Int) async throws {
        for _ in 0..<times { try await subject.release(.signature, "biometry-current-set", from: vault) }
    }
    try await sign(signatures / 10)
    let before = resident
    try await sign(signatures)
    let after = resident
    await device.close()
    table.row(
        "\(signatures) signatures in one process, after \(signatures / 10): resident growth",
        "\(after - before) KiB (from \(before) to \(after))",
        bar: "< 1024 KiB",
        isMet: after - before < 1024
    )
}

/// Resident memory of this process, in KiB.
private var resident: Int {
    let sizes = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    let pages = sizes?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    return (pages ?? 0) * Int(getpagesize()) / 1024
}
