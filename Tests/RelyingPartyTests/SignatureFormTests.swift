// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import LoginAssertion
import RelyingParty
import Testing

/// Edges of ECDSA as Project Wycheproof looks for them (ecdsa_secp256r1_sha256, and its P1363 form).
@Suite struct `Forms of a signature` {
    /// The order of P-256 (SEC 2, 2.4.2), its neighbours, the field's prime, and small and great numbers.
    static let order = number("FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551")
    static let edges: [(name: String, bytes: [UInt8])] = [
        ("0", [UInt8](repeating: 0, count: 32)),
        ("1", [UInt8](repeating: 0, count: 31) + [1]),
        ("n", order),
        ("n - 1", order.dropLast() + [0x50]),
        ("n + 1", order.dropLast() + [0x52]),
        ("p", number("FFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF")),
        ("2^256 - 1", [UInt8](repeating: 255, count: 32)),
    ]

    private static func number(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.count, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }
    }

    // Docs/Security.md: L6
    @Test func `with r or s at an edge are refused, behind each other and in DER`() async throws {
        let bank = try await Bank { $0.domainStatePolicy = .allow }
        let device = Device()
        try await bank.enable(device)
        for (r, s) in Self.edges.flatMap({ r in Self.edges.map { (r, $0) } }) {
            let draft = AssertionDraft(
                device.claims(answering: try await bank.challenge(device), at: bank.clock.now)
            )
            #expect(
                await bank.refusal(draft.signed(Data(r.bytes + s.bytes))) == .assertionRefused(.signature),
                "\(r.name), \(s.name)"
            )
            let der = Self.sequence(Self.integer(r.bytes) + Self.integer(s.bytes))
            #expect(try await bare(bank, device) { _ in der } == .assertionRefused(.signature))
        }
        // And with one half of a good signature.
        for edge in Self.edges {
            for half in 0...1 {
                let claims = device.claims(answering: try await bank.challenge(device), at: bank.clock.now)
                let draft = AssertionDraft(claims)
                let good = try device.privateKey.signature(for: draft.signingInput).rawRepresentation
                let mixed = half == 0 ? Data(edge.bytes) + good.suffix(32) : good.prefix(32) + edge.bytes
                #expect(
                    await bank.refusal(draft.signed(mixed)) == .assertionRefused(.signature),
                    "\(edge.name)"
                )
            }
        }
    }

    @Test func `are as good with the other s, whose sum with the first one is n`() async throws {
        let bank = try await Bank { $0.domainStatePolicy = .allow }
        let device = Device()
        try await bank.enable(device)
        for _ in 0..<8 {
            let draft = AssertionDraft(
                device.claims(answering: try await bank.challenge(device), at: bank.clock.now)
            )
            let good = try device.privateKey.signature(for: draft.signingInput).rawRepresentation
            let other = good.prefix(32) + Self.minus(Self.order, Array(good.suffix(32)))
            #expect(await bank.refusal(draft.signed(other)) == nil)
            #expect(
                try await bare(bank, device) { raw in
                    let s = Self.minus(Self.order, Array(raw.suffix(32)))
                    return Self.sequence(Self.integer(Array(raw.prefix(32))) + Self.integer(s))
                } == nil
            )
        }
    }

    @Test func `of another length are no assertion`() async throws {
        let bank = try await Bank()
        let device = Device()
        try await bank.enable(device)
        let draft = AssertionDraft(
            device.claims(answering: try await bank.challenge(device), at: bank.clock.now)
        )
        let good = try device.privateKey.signature(for: draft.signingInput)
        let forms = [
            Data(), good.rawRepresentation.dropLast(), good.rawRepresentation + [0],
            [0] + good.rawRepresentation, good.derRepresentation,
        ]
        for form in forms { #expect(await bank.refusal(draft.signed(form)) == .malformed) }
        #expect(await bank.refusal(draft.signed(good.rawRepresentation)) == nil)
    }

    /// Each makes of r and s what is no DER, though some readers of BER take it.
    static let forms: [(name: String, make: @Sendable ([UInt8], [UInt8]) -> [UInt8])] = [
        ("a long form of the sequence's length", { [0x30, 0x81] + [count($0 + $1)] + $0 + $1 }),
        ("a longer one", { [0x30, 0x82, 0] + [count($0 + $1)] + $0 + $1 }),
        ("no definite length", { [0x30, 0x80] + $0 + $1 + [0, 0] }),
        ("a long form of r's length", { bytes(sequence([2, 0x81] + $0.dropFirst() + $1)) }),
        ("a long form of s's length", { bytes(sequence($0 + [2, 0x81] + $1.dropFirst())) }),
        ("a leading zero in r", { bytes(sequence([2, $0[1] + 1, 0] + $0.dropFirst(2) + $1)) }),
        ("a leading zero in s", { bytes(sequence($0 + [2, $1[1] + 1, 0] + $1.dropFirst(2))) }),
        ("a byte behind it", { bytes(sequence($0 + $1)) + [0] }),
        ("a byte in it", { bytes(sequence($0 + $1 + [0])) }),
        ("a third number", { bytes(sequence($0 + $1 + [2, 1, 0])) }),
        ("NULL in it", { bytes(sequence($0 + $1 + [5, 0])) }),
        ("no s", { r, _ in bytes(sequence(r)) }),
        ("nothing", { _, _ in [] }),
        ("an empty sequence", { _, _ in [0x30, 0] }),
        ("empty numbers", { _, _ in [0x30, 4, 2, 0, 2, 0] }),
        ("a set", { [0x31] + bytes(sequence($0 + $1)).dropFirst() }),
        ("octets for r", { bytes(sequence([4] + $0.dropFirst() + $1)) }),
        ("one byte cut off", { bytes(sequence($0 + $1)).dropLast() }),
        ("a length one too great", { [0x30, count($0 + $1) + 1] + $0 + $1 }),
        ("a length one too small", { [0x30, count($0 + $1) - 1] + $0 + $1 }),
        ("a sequence in a sequence", { bytes(sequence(bytes(sequence($0 + $1)))) }),
        ("the numbers bare", { $0 + $1 }),
        ("r and s behind each other", { raw($0) + raw($1) }),
        ("negative r", { bytes(sequence([2, 0x20] + raw($0).map { $0 | 0x80 } + $1)) }),
    ]

    @Test(arguments: forms.indices)
    func `that are no DER are refused`(_ index: Int) async throws {
        let form = Self.forms[index]
        let bank = try await Bank { $0.domainStatePolicy = .allow }
        let device = Device()
        try await bank.enable(device)
        let code = try await bare(bank, device) { raw in
            let r = Self.integer(Array(raw.prefix(32)))
            let s = Self.integer(Array(raw.suffix(32)))
            return Data(form.make(r, s))
        }
        #expect(code == .assertionRefused(.signature), "\(form.name)")
        #expect(
            try await bare(bank, device) { raw in
                Self.sequence(Self.integer(Array(raw.prefix(32))) + Self.integer(Array(raw.suffix(32))))
            } == nil
        )
    }

    /// Why a bare signature in the form that `make` gives r and s is refused.
    private func bare(
        _ bank: Bank,
        _ device: Device,
        _ make: (Data) -> Data
    ) async throws -> RelyingPartyError.Code? {
        let challenge = try await bank.party.rawChallenge(for: device.user, device: device.name, from: "")
            .challenge
        let signature = make(try device.privateKey.signature(for: challenge).rawRepresentation)
        return await code { () async throws(RelyingPartyError) in
            _ = try await bank.party.signIn(
                user: device.user,
                device: device.name,
                challenge: challenge,
                signature: signature,
                from: ""
            )
        }
    }

    // DER, as X.690 wants it.

    static func sequence(_ contents: [UInt8]) -> Data { Data([0x30, UInt8(contents.count)] + contents) }
    static func bytes(_ data: Data) -> [UInt8] { Array(data) }
    static func count(_ bytes: [UInt8]) -> UInt8 { UInt8(bytes.count) }
    /// The number of an INTEGER in 32 bytes.
    static func raw(_ integer: [UInt8]) -> [UInt8] {
        let value = integer.dropFirst(2).drop { $0 == 0 }
        return [UInt8](repeating: 0, count: 32 - value.count) + value
    }
    static func integer(_ number: [UInt8]) -> [UInt8] {
        var value = Array(number.drop { $0 == 0 })
        if value.isEmpty || value[0] >= 0x80 { value.insert(0, at: 0) }
        return [2, UInt8(value.count)] + value
    }

    /// The difference of two numbers of 32 bytes.
    static func minus(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        var difference = left
        var borrow = 0
        for index in (0..<32).reversed() {
            let value = Int(left[index]) - Int(right[index]) - borrow
            borrow = value < 0 ? 1 : 0
            difference[index] = UInt8(value & 255)
        }
        return difference
    }
}
