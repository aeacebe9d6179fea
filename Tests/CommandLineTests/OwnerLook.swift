// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoftwareTPM
import Testing

/// What the program shows of an owner's things, compared with the model.
///
/// Each look is a run of the program of its own.
struct OwnerLook: Sendable {
    let session: VaultSession
    /// Told with each failure.
    let trace: String

    private static let touch = "mock:touch \(OwnerModel.anchor)"

    /// The fingers that are listed.
    func fingers() async throws -> Set<String> {
        let list = try await session.run(["fingers", "--json"])
        #expect(list.status == 0, "the store opens: \(list); \(trace)")
        let fingers = try #require(list.answer("result")?["fingers"] as? [[String: Any]], "\(list); \(trace)")
        let names = Set(fingers.compactMap { $0["finger"] as? String })
        #expect(names.count == fingers.count, "a finger is there twice; \(trace)")
        return names
    }

    /// The names of the secrets or keys that are listed.
    func names(_ kind: String) async throws -> Set<String> {
        let list = try await session.run([kind, "list", "--json"])
        #expect(list.status == 0, "\(list); \(trace)")
        let items = try #require(list.answer("result")?["\(kind)s"] as? [[String: Any]], "\(list); \(trace)")
        #expect(items.allSatisfy { $0["standing"] as? String != "tampered" }, "\(list); \(trace)")
        return Set(items.compactMap { $0["name"] as? String })
    }

    /// Whether an item gives what it must give, or is refused for good where it must be.
    func expectItem(_ name: String, _ model: OwnerModel) async throws {
        guard let (kind, opening) = OwnerModel.names[name], let item = model.items[name] else { return }
        let outcome: WhorlProgram.Outcome
        if kind == "key" {
            outcome = try await session.sh("printf m | \"$W\" key sign \(name) --json", reader: Self.touch)
        } else if opening == .passcode {
            outcome = try await session.withPasscode(model.passcode ?? "", run: "secret get \(name) --json")
        } else if opening == .presentSetOrPasscode, let passcode = model.passcode {
            outcome = try await session.withPasscode(
                passcode,
                run: "secret get \(name) --json",
                reader: Self.touch
            )
        } else {
            outcome = try await session.run(["secret", "get", name, "--json"], reader: Self.touch)
        }
        if model.isDead(name) {
            // A later passcode was taken once; what an earlier one opened asks for it again, and nobody types it.
            let codes =
                opening == .presentSetOrPasscode
                ? ["enrollmentChanged", "accessDenied", "notInteractive"] : ["enrollmentChanged"]
            #expect(
                outcome.status != 0 && codes.contains(outcome.errorCode ?? ""),
                "\(name) works: \(outcome); \(trace)"
            )
            return
        }
        #expect(outcome.status == 0, "\(name) is lost: \(outcome); \(trace)")
        guard kind == "secret" else { return }
        let secret = outcome.answer("result")?["secret"] as? String
        #expect(secret == item.bytes.base64EncodedString(), "\(name) has other bytes: \(outcome); \(trace)")
    }

    /// Whether this is the passcode; `nil` when none is set.
    func isPasscode(_ passcode: String) async throws -> Bool? {
        let outcome = try await session.withPasscode(passcode, run: "passcode verify --json")
        switch outcome.status {
        case 0: return true
        case 14: return nil
        default:
            #expect(outcome.out.contains("Wrong passcode."), "\(outcome); \(trace)")
            return false
        }
    }

    /// Compares everything.
    func expectAll(_ model: OwnerModel) async throws {
        #expect(try await fingers() == model.fingers, "\(trace)")
        for kind in ["secret", "key"] {
            let expected = model.items.keys.filter { OwnerModel.names[$0]?.kind == kind }
            #expect(try await names(kind) == Set(expected), "\(trace)")
        }
        for name in model.items.keys.sorted() { try await expectItem(name, model) }
        // What the passcode opens has shown it already.
        if model.items["pass"] == nil {
            let isSet = try await isPasscode(model.passcode ?? "0000")
            #expect(isSet == model.passcode.map { _ in true }, "\(trace)")
        }
        for finger in model.fingers.sorted() {
            let touched = try await session.run(
                ["evaluate", "--reason", "x", "--json"],
                reader: "mock:touch \(finger)"
            )
            #expect(touched.answer("result")?["finger"] as? String == finger, "\(touched); \(trace)")
        }
        let status = try await session.run(["vault", "status", "--json"])
        #expect(status.status == 0, "\(status); \(trace)")
        #expect(try session.tpm.handles(from: 0x0100_0000).count { $0 >> 8 == 0x01_8057 } == 1, "\(trace)")
        #expect(try session.tpm.leaks().isEmpty, "a run that was not killed left something; \(trace)")
    }
}
