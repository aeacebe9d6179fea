// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import WhorlVault
import WhorlService

/// Access controls: what they mean, how they are written, how they are stored.
struct AccessControlTests {
    /// Every plain access control that differs from the others.
    static let plain = [
        "none", "biometry-any", "biometry-current-set", "passcode", "user-presence",
        "biometry-current-set-or-passcode", "biometry-any-and-passcode",
        "biometry-current-set-and-passcode", "biometry-current-set-or-biometry-any-and-passcode",
    ]

    static let all =
        plain + plain.map { $0 + "+application-password" }
        + plain.filter { !$0.hasSuffix("passcode") || $0.hasPrefix("biometry-current-set-or") }
        .flatMap { [$0 + "+pcrs:7", $0 + "+application-password+pcrs:0,2,7"] }
        + [
            "biometry-any+match-on-chip", "biometry-any+two-fingers",
            "user-presence+match-on-chip+two-fingers",
            "biometry-any+reader:goodixmoc/27c6:5840/a+b",
            "biometry-any+application-password+pcrs:7+two-fingers+reader:x",
        ]

    @Test(arguments: all) func `its text gives the same access control again`(text: String) throws {
        let access = try AccessControl(text)
        #expect(access.text == text)
        #expect(try AccessControl(access.text) == access)
    }

    @Test func `every access control has bytes of its own, which give it back`() throws {
        var seen: Set<Data> = []
        for text in Self.all {
            let access = try AccessControl(text)
            #expect(AccessControl(encoded: access.encoded) == access)
            #expect(seen.insert(access.encoded).inserted, "\(text)")
            #expect(access.encoded.count <= (access.strength == .any ? 16 : 80))
        }
    }

    @Test(arguments: [
        ("biometry-any-or-passcode", "user-presence"),
        ("passcode-or-biometry-any", "user-presence"),
        ("biometry-any-or-biometry-any", "biometry-any"),
        ("biometry-any-or-biometry-current-set", "biometry-any"),
        ("biometry-any-and-biometry-current-set", "biometry-current-set"),
        ("none-or-passcode", "none"),
        ("none-and-passcode", "passcode"),
        ("user-presence-and-passcode", "passcode"),
        ("user-presence-or-biometry-current-set", "user-presence"),
        ("passcode-or-passcode-and-biometry-any", "passcode"),
    ]) func `what means the same is the same`(text: String, simple: String) throws {
        #expect(try AccessControl(text) == AccessControl(simple))
    }

    @Test(
        arguments: [
            "", "biometry", "Biometry-Any", "biometry-any ", "biometry-any-or", "-or-passcode",
            "passcode-and-",
            "none+two-fingers", "passcode+match-on-chip", "biometry-any+passcode", "biometry-any+any",
            "biometry-any+two-fingers+two-fingers", "biometry-any+reader:", "biometry-any+reader:a b",
            "biometry-any+two-fingers+application-password", "biometry-any+two-fingers+",
            "none+pcrs:", "none+pcrs:24", "none+pcrs:-1", "none+pcrs:7,", "none+pcrs:x", "none+pcrs:16",
            "none+pcrs:7+pcrs:8", "none+application-password+application-password", "+application-password",
            "none+", "passcode+pcrs:7", "biometry-any-and-passcode+pcrs:7", "biometry-any\u{1B}[2J",
            String(repeating: "none-or-", count: 1000) + "none",
        ]
    )
    func `a text that is no access control is refused, and told without its strange characters`(text: String)
    {
        let error = #expect(throws: ServiceError.self) { try AccessControl(text) }
        #expect(error?.code == .accessRefused)
        #expect(error?.message.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value < 127 } == true)
        #expect((error?.message.count ?? 0) < 400)
    }

    @Test func `stored bytes that no access control has are refused`() throws {
        let good = try AccessControl("user-presence+application-password+pcrs:7").encoded
        for length in 0..<good.count { #expect(AccessControl(encoded: good.prefix(length)) == nil) }
        #expect(AccessControl(encoded: good + [0]) == nil)
        // Another version, another flag, a register that programs reset, too many ways, an unknown way, a way that
        // is only half a current set, ways in another order, a way that another one makes needless.
        let bad: [[UInt8]] = [
            [2, 0, 0, 0, 0, 0, 1, 1], [1, 2, 0, 0, 0, 0, 1, 1], [1, 0, 0, 1, 0, 0, 1, 1],
            [1, 0, 1, 0, 0, 0, 1, 1], [1, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 1, 8],
            [1, 0, 0, 0, 0, 0, 1, 2], [1, 0, 0, 0, 0, 0, 1, 6], [1, 0, 0, 0, 0, 0, 2, 4, 1],
            [1, 0, 0, 0, 0, 0, 2, 1, 5], [1, 0, 0, 0, 0, 0, 2, 1, 1], [1, 0, 0, 0, 0, 128, 1, 4],
        ]
        for bytes in bad { #expect(AccessControl(encoded: Data(bytes)) == nil, "\(bytes)") }
    }

    @Test func `two thousand random byte strings are refused or give themselves back`() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let count = Int.random(in: 0...12, using: &generator)
            let bytes = Data((0..<count).map { _ in UInt8.random(in: 0...8, using: &generator) })
            if let access = AccessControl(encoded: bytes) { #expect(access.encoded == bytes) }
        }
    }

    @Test func `the passcode stands in for boot measurements, and for nothing else`() throws {
        let any = try AccessControl("biometry-any+pcrs:7")
        #expect(any.waysInChip == [[.biometryAny, .devicePasscode], [.biometryAny, .measuredBoot]])
        let presence = try AccessControl("user-presence+pcrs:7")
        #expect(presence.waysInChip == [.devicePasscode, [.biometryAny, .measuredBoot]])
        let current = try AccessControl("biometry-current-set+pcrs:7")
        #expect(current.waysInChip.allSatisfy { $0.contains(.biometryCurrentSet) })
        let none = try AccessControl("none+pcrs:7")
        #expect(none.waysInChip == [.devicePasscode, .measuredBoot])
    }

    @Test func `what is lost without a passcode is what every way needs it for`() throws {
        let lost = try Self.plain.filter { try AccessControl($0).isLostWithoutPasscode }
        #expect(lost == ["passcode", "biometry-any-and-passcode", "biometry-current-set-and-passcode"])
    }

    @Test func `parts with a password or with measurements are not joined, so that neither is lost`() throws {
        let password = AccessControl.biometryAny.withApplicationPassword
        let bound = try AccessControl.biometryAny.boundToBoot(BootRegisters([7]))
        for part in [password, bound] {
            #expect(throws: ServiceError.self) { try AccessControl.either(part, .devicePasscode) }
            #expect(throws: ServiceError.self) { try AccessControl.both(.devicePasscode, part) }
        }
    }
}
