// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import SoftwareTPM
import Testing

@testable import WhorlTPM

/// The one session that is kept between sequences.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `The session that authorities are asked by` {
    @Test func `is started once, and flushed with the connection`() async throws {
        let (bench, bus) = try await behindInterposer()
        let object = try await item(bench)
        bus.forget()
        for _ in 0..<3 { #expect(try await opens(object, bench)) }
        #expect(bus.sessionsStarted(0x00) == 1)
        #expect(bus.sessionsStarted(0x01) == 3)
        try await bench.expectNothingLeft()
    }

    /// So that its key, which lives longer, decrypts no secret in what was recorded.
    @Test func `is never the one that encrypts a secret`() async throws {
        let (bench, bus) = try await behindInterposer()
        let object = try await item(bench)
        #expect(try await opens(object, bench))
        bus.forget()
        #expect(try await opens(object, bench))
        let verdict = try await bench.run { tpm throws(TPMError) in
            try tpm.verify(bench.auth, of: bench.authority, under: bench.root)
        }
        #expect(verdict == .right)
        // Last, as it may need the kept one's room.
        _ = try await item(bench)
        let kept = bus.heard.filter { $0.code == 0x151 }.map(\.sessions)
        #expect(kept.count == 1 && kept[0].count == 1)
        for heard in bus.heard where [0x153, 0x155, 0x15e].contains(heard.code) {
            #expect(heard.sessions.count == 1 && heard.sessions != kept[0], "\(heard.code)")
        }
    }

    @Test func `goes on after a wrong value`() async throws {
        let (bench, bus) = try await behindInterposer()
        let object = try await item(bench)
        #expect(try await opens(object, bench))
        var wrong = Credentials()
        wrong.add(bench.authority, auth: secret([1, 2, 3]))
        bus.forget()
        for _ in 0..<2 {
            let error = try await failure { () async throws(TPMError) in
                try await unseal(object, bench, wrong)
            }
            #expect(error.code == .authFailed)
            #expect(try await opens(object, bench))
        }
        #expect(bus.sessionsStarted(0x00) == 0)
        try await bench.expectNothingLeft()
    }

    /// On a TPM without a resource manager anybody can flush it.
    @Test func `flushed by somebody else, is started anew`() async throws {
        let bench = try await Bench()
        let object = try await item(bench)
        #expect(try await opens(object, bench))
        #expect(try bench.chip.handles(from: 0x0200_0000).count == 1)
        #expect(try bench.chip.tool("flushcontext", "--loaded-session").status == 0)
        #expect(try bench.chip.handles(from: 0x0200_0000) == [])
        #expect(try await opens(object, bench))
        try await bench.expectNothingLeft()
    }

    /// As where the chip has lost it and another program's session has its handle, on a TPM without a resource manager.
    @Test func `whose HMAC the chip finds wrong, is started anew once`() async throws {
        let (bench, bus) = try await behindInterposer()
        let object = try await item(bench)
        #expect(try await opens(object, bench))
        bus.forget()
        // TPM_RC_AUTH_FAIL of the first session.
        bus.decide { number, _ in number == 0 ? .answer(0x98e) : .pass }
        #expect(try await opens(object, bench))
        #expect(bus.sessionsStarted(0x00) == 1 && bus.sessionsStarted(0x01) == 2)

        bus.decide { _, code in
            guard code == 0x176 else { return .pass }
            let refusal: [UInt8] = [0x80, 1, 0, 0, 0, 10, 0, 0, 9, 0x8e]
            return .serve { command, tpm in command[1] == 2 ? refusal : tpm(command) }
        }
        let error = try await failure { () async throws(TPMError) in
            try await unseal(object, bench, bench.credentials)
        }
        #expect(error.code == .foreignRoot)
    }

    /// What can decrypt one root's salt need not hold another root.
    @Test func `is not taken for another root`() async throws {
        let bench = try await Bench()
        let object = try await item(bench)
        let taken = try await bench.run { tpm throws(TPMError) in
            _ = try tpm.unseal(object, under: bench.root, meeting: bench.policy, with: bench.credentials)
            let cache = tpm.connection.cache
            return [bench.root.name, object.name].map { name in
                guard let session = cache.borrowSession(saltedTo: name) else { return false }
                cache.giveBack(session: session)
                return true
            }
        }
        #expect(taken == [true, false])
        try await bench.expectNothingLeft()
    }

    // MARK: Parts

    private func behindInterposer() async throws -> (Bench, Interposer) {
        let chip = try SoftwareTPM()
        let bus = try Interposer(inFrontOf: chip)
        return (try await Bench(through: bus.address, chip: chip), bus)
    }

    private func item(_ bench: Bench) async throws -> TPMObject {
        try await bench.run { tpm throws(TPMError) in
            try tpm.create(.sealed(secret([5])), under: bench.root, policy: bench.policy.digest)
        }
    }

    private func unseal(
        _ object: TPMObject,
        _ bench: Bench,
        _ credentials: Credentials
    ) async throws(TPMError) -> SecretBox {
        try await bench.run { tpm throws(TPMError) in
            SecretBox(
                try tpm.unseal(object, under: bench.root, meeting: bench.policy, with: credentials)
            )
        }
    }

    private func opens(_ object: TPMObject, _ bench: Bench) async throws -> Bool {
        try await unseal(object, bench, bench.credentials).bytes.copy == [5]
    }
}

extension Interposer {
    /// How many sessions of a kind (TPM_SE) were started.
    fileprivate func sessionsStarted(_ kind: UInt8) -> Int {
        // The kind stands before the cipher (algorithm, key size and mode, 6 bytes) and the hash (2).
        heard.filter { $0.code == 0x176 && $0.command.dropLast(8).last == kind }.count
    }
}

extension Interposer.Heard {
    /// The handles of the HMAC and policy sessions that authorize or encrypt, in their order.
    fileprivate var sessions: [[UInt8]] {
        guard command.starts(with: [0x80, 0x02]) else { return [] }
        let handles = [0x151: 2, 0x153: 1, 0x155: 1, 0x15e: 1][code] ?? 0
        var rest = command.dropFirst(10 + 4 * handles)
        let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(4).prefix(size)
        var found: [[UInt8]] = []
        while rest.count >= 9 {
            found.append(Array(rest.prefix(4)))
            rest = rest.dropFirst(4)
            rest = rest.dropFirst(2 + rest.prefix(2).reduce(0) { $0 << 8 | Int($1) } + 1)
            rest = rest.dropFirst(2 + rest.prefix(2).reduce(0) { $0 << 8 | Int($1) })
        }
        return found
    }
}
