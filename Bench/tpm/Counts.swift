// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoftwareTPM
import WhorlTPM

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
    private let file: URL
    private var seen = 0

    init(file: URL) {
        self.file = file
        setenv("TCTI_PCAP_FILE", file.path, 1)
    }

    /// How many commands were sent since this was asked last.
    mutating func next() throws -> Int {
        let all = try TrafficRecording(contentsOf: file).commands.count
        defer { seen = all }
        return all - seen
    }
}

/// How many commands one product takes, for a process that has just started and for one that goes on.
private struct Cost {
    var cold = 0
    var warm = Int.max

    init(_ product: Product, _ access: String, of subject: Subject, _ recorder: inout Recorder) async throws {
        let (vault, device) = try subject.open(recording: true)
        try await subject.release(product, access, from: vault)
        cold = try recorder.next()
        // On a TPM without a resource manager the connection is closed after a moment without work, which on a busy
        // machine may come between two uses: the warm one is the smallest of several.
        for _ in 0..<5 {
            try await subject.release(product, access, from: vault)
            warm = min(warm, try recorder.next())
        }
        await device.close()
        cold += try recorder.next()
    }
}

/// TPM commands from the match to the product, and what they would take on a chip.
func countCommands(_ subject: Subject, _ table: Table) async throws {
    var recorder = Recorder(file: subject.tpm.directory.appending(path: "traffic.pcapng"))
    var modelled: [String] = []
    for access in Subject.accesses {
        let key = try await Cost(.signature, access, of: subject, &recorder)
        let secret = try await Cost(.secret, access, of: subject, &recorder)
        table.row(
            "TPM commands from the match to a signature / a secret, `\(access)`",
            "warm \(key.warm) / \(secret.warm), cold process \(key.cold) / \(secret.cold) with closing",
            bar: "≤ 5, ≤ 12",
            isMet: max(key.warm, secret.warm) <= 5 && max(key.cold, secret.cold) <= 12
        )
        modelled.append(
            "`\(access)` \(Chip.time(key.warm, signatures: 1)) / \(Chip.time(secret.warm)), "
                + "cold \(Chip.time(key.cold, signatures: 1)) / \(Chip.time(secret.cold))"
        )
    }
    table.row(
        "all of these, modelled for a chip (\(Chip.command) ms a command, \(Chip.signature) ms a signature)",
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
        try run("touch right-index,touch left-index*6", "enroll", "left-index-finger"),
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
