// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Foundation
import Testing
import WhorlService

@testable import WhorlRemote

/// The forms of values between processes, which clients of other versions rely on.
@Suite("The forms of values")
struct FormTests {
    private func form(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .secondsSince1970
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func same<Value: Codable & Equatable>(_ value: Value, _ expected: String) throws {
        #expect(try form(value) == expected)
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        #expect(try decoder.decode(Value.self, from: Data(expected.utf8)) == value)
    }

    @Test func `a signature and a named key are lists of their bytes' numbers, as described`() throws {
        let bytes = (1...64).map(\.description).joined(separator: ",")
        try same(try #require(Signature(raw: Data(1...64))), "[\(bytes)]")
        let point = try #require(Data(base64Encoded: Self.point))
        let key = try #require(SigningKeyPublic(x963: point))
        try same(key, "[\(point.map(\.description).joined(separator: ","))]")
        let items = try #require(InterfaceText.all.first { $0.name == "io.whorl.Items" }).text
        #expect(items.contains("method PublicKey(value: Name) -> (value: []int)"))
        #expect(items.contains("signature: ?[]int"))
    }

    /// A public key of P-256 in Base64, uncompressed.
    private static let point =
        "BEMKBO8b1KzPCImZHE9tIzr2bR6xYbzARwgDpDlOz08nmQ1vPqigYb4whcMovsf17Vnfvmdssw/MP28SZiVB3pI="

    @Test func `errors name their code, and the values that belong to it`() throws {
        try same(VaultError(.noSuchItem, "key \"k\""), #"{"code":"noSuchItem","subject":"key \"k\""}"#)
        try same(
            VaultError(.passcodeThrottled(for: .seconds(30))),
            #"{"code":"passcodeThrottled","milliseconds":30000}"#
        )
        try same(
            VaultError(.nameRefused(.tooLong(bytes: 300))),
            #"{"bytes":300,"code":"nameRefused","refusal":"tooLong"}"#
        )
        try same(
            VaultError(.passcodeNeeded(by: ["a", "b"])),
            #"{"code":"passcodeNeeded","items":["a","b"]}"#
        )
        try same(EnrollmentError(.duplicate(of: nil)), #"{"code":"duplicate"}"#)
        try same(
            EnrollmentError(.fingerExists(.leftThumb)),
            #"{"code":"fingerExists","finger":"left-thumb"}"#
        )
        try same(
            EnrollmentError(.reader(ReaderError(.unplugged, operation: "enroll"))),
            #"{"code":"reader","failure":{"cause":"","code":"unplugged","operation":"enroll"}}"#
        )
    }

    @Test(
        arguments: [
            VaultError.Code.noChip, .chipBusy, .chipCrowded, .chipFailed, .chipCleared,
            .ownerAuthorizationNeeded,
            .chipFull, .chipLockedOut, .counterLost, .nameRefused(.edge), .nameRefused(.empty),
            .nameRefused(.character(7)), .noSuchItem, .itemExists, .enrollmentChanged, .itemTampered,
            .measuredBootChanged, .accessDenied, .applicationPasswordNeeded, .applicationPasswordWrong,
            .secretEmpty,
            .secretTooLarge(bytes: 9), .digestWrongSize(bytes: 9), .publicKeyRefused, .accessRefused("why"),
            .passcodeBusy, .applicationPasswordThrottled(for: .seconds(7)),
            .passcodeNotSet, .passcodeExists, .passcodeWrongSize, .passcodeWrong, .noEndorsement,
            .credentialRefused,
            .store(StateError(.busy, path: "/x", cause: "SQLITE_BUSY")),
        ]
    )
    func `every error of the vault comes back as it was`(code: VaultError.Code) throws {
        let error = VaultError(code, "the subject", cause: "the cause")
        #expect(try JSONDecoder().decode(VaultError.self, from: Data(form(error).utf8)) == error)
    }

    @Test func `a code of a newer service is an error that names it`() throws {
        let error = try JSONDecoder().decode(
            VaultError.self,
            from: Data(#"{"code":"newer","cause":"x"}"#.utf8)
        )
        #expect(error.code == .chipFailed && error.cause == "newer x")
        let other = try JSONDecoder().decode(EnrollmentError.self, from: Data(#"{"code":"newer"}"#.utf8))
        #expect(other.code == .reader(ReaderError(.malfunction, operation: "service", cause: "newer")))
    }

    @Test func `requests and uses have names that never change`() throws {
        let application = ApplicationID(rawValue: "app")
        try #expect(
            form(
                EvaluationRequest(policy: .deviceOwner, purpose: .yes, reason: "r", application: application)
            )
                == #"{"application":"app","interactionAllowed":true,"policy":"device-owner","purpose":{"kind":"yes"},"reason":"r","reuseMilliseconds":0,"timeoutMilliseconds":60000}"#
        )
        try same(TouchPurpose.storedByProgram, #"{"kind":"storedByProgram"}"#)
        for purpose in [
            TouchPurpose.item("x"), .signIn("x"), .setPasscode, .changePasscode, .removePasscode, .reseal,
            .changeFingers, .keyring, .logIn("x"),
            .unlockScreen("x"),
        ] {
            let name = try form(purpose).contains("name") ? #","name":"x""# : ""
            try same(purpose, #"{"kind":"\#(purpose.code)"\#(name)}"#)
        }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(TouchPurpose.self, from: Data(#"{"kind":"newer"}"#.utf8))
        }
        try same(ItemUse.secret, #"{"secret":{}}"#)
        try same(ItemUse.signature(over: Data([1])), #"{"signature":{"digest":"AQ=="}}"#)
        try same(FingerSelection.finger(.leftThumb, on: nil), #"{"finger":{"finger":"left-thumb"}}"#)
        try same(FingerSelection.all, #"{"all":{}}"#)
        try same(AttemptStatus.Lock.until(Date(timeIntervalSince1970: 5)), #"{"until":{"end":5}}"#)
        try same(try AccessControl("biometry-any-or-passcode"), #""user-presence""#)
        try same(try ItemName("wifi"), #""wifi""#)
        try same(VaultReset.fingersLost(database: "x"), #"{"fingersLost":{"database":"x"}}"#)
    }

    @Test(arguments: [#""""#, #""../x""#, #""a\u0000b""#])
    func `a name that is none is refused`(text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(ItemName.self, from: Data(text.utf8)) }
    }

    @Test func `a duration below zero is refused`() {
        let text = #"{"application":"a","timeoutMilliseconds":-1}"#
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(ConsentRequest.self, from: Data(text.utf8))
        }
    }
}
