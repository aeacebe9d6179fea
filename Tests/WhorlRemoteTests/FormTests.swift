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
        let key = try #require(SigningKeyPublic(x963: Self.point))
        try same(key, "[\(Self.point.map(\.description).joined(separator: ","))]")
        let items = try #require(InterfaceText.all.first { $0.name == "io.whorl.Items" }).text
        #expect(items.contains("method PublicKey(value: Name) -> (value: []int)"))
        #expect(items.contains("signature: ?[]int"))
    }

    /// A public key of P-256, uncompressed.
    static let point =
        Data(
            base64Encoded:
                "BEMKBO8b1KzPCImZHE9tIzr2bR6xYbzARwgDpDlOz08nmQ1vPqigYb4whcMovsf17Vnfvmdssw/MP28SZiVB3pI="
        ) ?? Data()

    @Test func `an error has its code, its sentences, its cause, and its values if there are any`() throws {
        try same(
            ServiceError(.passcodeWrong, message: "m", recovery: "r"),
            #"{"cause":"","code":"passcodeWrong","message":"m","recovery":"r"}"#
        )
        try same(
            ServiceError(.noSuchItem, "key \"k\"", message: "m", recovery: "r", cause: "c"),
            #"{"cause":"c","code":"noSuchItem","details":{"subject":"key \"k\""},"message":"m","recovery":"r"}"#
        )
        // A newer service's code is kept, and counts as another failure.
        let newer = ServiceError.Code(rawValue: "newer")
        #expect(newer.category == .other)
        try same(
            ServiceError(newer, message: "m", recovery: "r"),
            #"{"cause":"","code":"newer","message":"m","recovery":"r"}"#
        )
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
