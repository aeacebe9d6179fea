// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoftwareTPM
import TPM

/// What a command takes on a chip, as a model for the order of magnitude: chips differ, and take between 5 and 200 ms.
private enum Chip {
    static let command = 20
    static let signature = 200

    static func time(_ commands: Int, signatures: Int = 0) -> String {
        "\((commands - signatures) * command + signatures * signature) ms"
    }
}

/// The commands that tpm2-tss's own recorder writes down, by the TCTI `pcap:`.
private struct Recorder {
    let file: URL

    init(file: URL) {
        self.file = file
        setenv("TCTI_PCAP_FILE", file.path, 1)
    }

    /// How many commands `body` sends.
    func count(_ body: () async throws -> Void) async throws -> Int {
        let before = try commands
        try await body()
        return try commands - before
    }

    var commands: Int {
        get throws {
            FileManager.default.fileExists(atPath: file.path)
                ? try TrafficRecording(contentsOf: file).commands.count : 0
        }
    }
}

/// TPM commands from the match to the product, and what they would take on a chip.
func countCommands(_ subject: Subject, _ table: Table) async throws {
    let recorder = Recorder(file: subject.tpm.directory.appending(path: "traffic.pcapng"))
    var modelled: [String] = []
    for access in Subject.accesses {
        var (cold, warm): ([Int], [Int]) = ([], [])
        for product in Product.allCases {
            let (vault, device) = try subject.open(recording: true)
            let first = try await recorder.count { try await subject.release(product, access, from: vault) }
            // On a TPM without a resource manager the connection is closed after a moment without work, which on a busy
            // machine may come between two uses: the warm one is the smallest of several.
            var next: [Int] = []
            for _ in 0..<5 {
                next.append(
                    try await recorder.count { try await subject.release(product, access, from: vault) }
                )
            }
            let closing = try await recorder.count { await device.close() }
            cold.append(first + closing)
            warm.append(next.min() ?? 0)
        }
        table.row(
            "TPM commands from the match to a signature / a secret, `\(access)`",
            "warm \(warm[0]) / \(warm[1]), cold process \(cold[0]) / \(cold[1]) with closing",
            bar: "≤ 5, ≤ 12",
            isMet: warm.allSatisfy { $0 <= 5 } && cold.allSatisfy { $0 <= 12 }
        )
        modelled.append(
            "`\(access)` \(Chip.time(warm[0], signatures: 1)) / \(Chip.time(warm[1])), "
                + "cold \(Chip.time(cold[0], signatures: 1)) / \(Chip.time(cold[1]))"
        )
    }
    table.row(
        "the same, modelled for a chip (\(Chip.command) ms a command, \(Chip.signature) ms a signature)",
        modelled.joined(separator: "; "),
        bar: "published",
        isMet: nil
    )
}

/// TPM commands of whole runs of the program, in a directory whose state key the chip keeps.
func countWholeRuns(of whorl: String, in directory: String, _ table: Table) throws {
    let tpm = try SoftwareTPM()
    let file = tpm.directory.appending(path: "traffic.pcapng")
    func run(_ reader: String, _ arguments: String...) throws -> Int {
        try? FileManager.default.removeItem(at: file)
        let settings = [
            "WHORL_TCTI=pcap:\(tpm.address)", "TCTI_PCAP_FILE=\(file.path)", "WHORL_STATE_DIR=\(directory)",
            "WHORL_PROFILE=ada", "WHORL_READER=mock:\(reader)",
        ]
        let done = try tpm.run("env", arguments: settings + [whorl] + arguments)
        guard done.status == 0 else { throw Failure(text: "\(arguments): \(done.errors)") }
        return try TrafficRecording(contentsOf: file).commands.count
    }
    _ = try run("match", "vault", "provision")
    let enrolling = [
        try run("touch right-index*6", "enroll", "right-index-finger"),
        try run("touch left-index*6", "enroll", "left-index-finger"),
    ]
    let asking = try run("match", "can-evaluate")
    let evaluating = try run("match", "evaluate", "--reason", "be measured")
    _ = try run("match", "key", "create", "k", "--access", "biometry-current-set")
    let signing = try run("match", "key", "sign", "k")
    table.row(
        "TPM commands of a whole run of `whorl`, where the chip keeps the state key",
        "`can-evaluate` \(asking), `evaluate` \(evaluating), `key sign` \(signing), first `enroll` \(enrolling[0]), "
            + "further one \(enrolling[1])",
        bar: "published",
        isMet: nil
    )
    table.row(
        "the same, modelled for a chip, without the person's time",
        "`can-evaluate` \(Chip.time(asking)), `evaluate` \(Chip.time(evaluating)), "
            + "`key sign` \(Chip.time(signing, signatures: 1)), first `enroll` \(Chip.time(enrolling[0])), "
            + "further one \(Chip.time(enrolling[1]))",
        bar: "published",
        isMet: nil
    )
}
