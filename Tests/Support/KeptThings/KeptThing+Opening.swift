// SPDX-License-Identifier: Apache-2.0

internal import WhorlEngine
internal import BiometricLogin
internal import Foundation
internal import KeychainServices
internal import LocalAuthentication
internal import SecureEnclaveKeys
internal import WhorlVault
import WhorlService
internal import WhorlSystem

extension KeptThing {
    /// Whether a person's passcode can come first: a right and a login begin a prompt of their own each time, to which
    /// nothing can be shown before.
    package func opensTo(_ showing: Showing) -> Bool {
        showing != .passcodeFirst || (place != .right && place != .login)
    }

    /// Whether it gives what it holds to the person who uses the program.
    ///
    /// - Returns: Why not; `nil` when it does.
    package func refusal(in program: Program) async -> (any Error)? {
        do {
            try await open(in: program)
            return nil
        } catch {
            return error
        }
    }

    private func open(in program: Program) async throws {
        let (name, value, bytes) = (name, value, bytes)
        switch place {
        case .secret, .key: try await openStored(in: program)
        case .password:
            let context = try await context(in: program)
            try await program.run {
                let query: [CFString: Any] = [
                    kSecClass: kSecClassGenericPassword, kSecAttrAccount: name, kSecReturnData: true,
                    kSecUseAuthenticationContext: context,
                ]
                var found: CFTypeRef?
                let status = SecItemCopyMatching(query as CFDictionary, &found)
                guard status == errSecSuccess, found as? Data == value else {
                    throw Refused(what: "SecItemCopyMatching \(status)")
                }
            }
        case .keychainKey:
            let context = try await context(in: program)
            try await program.run {
                let query: [CFString: Any] = [
                    kSecClass: kSecClassKey, kSecAttrApplicationTag: Data(name.utf8), kSecReturnRef: true,
                    kSecUseAuthenticationContext: context,
                ]
                var found: CFTypeRef?
                let status = SecItemCopyMatching(query as CFDictionary, &found)
                guard status == errSecSuccess, let key = found as? SecKey else {
                    throw Refused(what: "SecItemCopyMatching \(status)")
                }
                var error: Unmanaged<CFError>?
                let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
                guard SecKeyCreateSignature(key, algorithm, Self.message as CFData, &error) != nil else {
                    throw error?.takeRetainedValue() ?? Refused(what: "SecKeyCreateSignature")
                }
            }
        case .enclaveKey:
            let context = try await context(in: program)
            try await program.run {
                let key = try SecureEnclave.P256.Signing.PrivateKey(
                    dataRepresentation: bytes ?? Data(),
                    authenticationContext: context
                )
                _ = try key.signature(for: Self.message)
            }
        case .right:
            try await program.run(waiting: {
                let right = try await LARightStore.shared.right(forIdentifier: name)
                try await right.authorize(localizedReason: "open")
                guard try await right.secret.rawData == value else { throw Refused(what: "another secret") }
                _ = try await right.key.sign(Self.message, algorithm: .ecdsaSignatureMessageX962SHA256)
            })
        case .login:
            _ = try await Self.pair(name, access, program)
                .createSignature(promptMessage: "sign in", payload: Self.message)
        }
    }

    private func openStored(in program: Program) async throws {
        let session = OwnerSession()
        var asked = EvaluationRequest(
            policy: .deviceOwner,
            purpose: .storedByProgram,
            reason: "open",
            application: program.services.application
        )
        asked.timeout = Program.patience
        asked.session = session
        if program.showing == .passcodeFirst {
            var first = asked
            first.takesPasscodeAlone = true
            // The item's own control asks for the passcode alone, and the session keeps what was shown.
            _ = try await program.services.engine.evaluate(first, presenter: program.person)
        }
        let control = try AccessControl(access)
        let request = ReleaseRequest(
            asked,
            applicationPassword: control.needsApplicationPassword ? Self.password : nil
        )
        let engine = program.services.engine
        if place == .secret {
            let released = try await engine.handlers.secret(
                in: .named(try id),
                request,
                presenter: program.person
            )
            guard released.product.bytes.withUnsafeBytes({ Data($0) }) == value else {
                throw Refused(what: "another secret")
            }
        } else {
            _ = try await engine.handlers.signature(
                over: Data(count: 32),
                with: .named(try id),
                request,
                presenter: program.person
            )
        }
    }

    /// Whether its row is still there, read past everything that leaves rows out.
    package func isThere(in program: Program) async throws -> Bool {
        let name = name
        switch place {
        case .secret, .key:
            let id = try id
            return try await program.services.services.ask(ListItems()).contains { $0.id == id }
        case .enclaveKey: return try SealedItem(encoded: bytes ?? Data()).kind == .key
        case .password, .keychainKey, .right, .login:
            let parts = program.parts
            return try await program.run {
                let store = KeychainStore(parts)
                func items(_ itemClass: KeychainClass) throws -> [KeychainRow] {
                    try store.items(KeychainMatch(itemClass, groups: store.groups), withValues: true)
                }
                switch place {
                case .keychainKey:
                    return try items(.key).contains { $0.record.attributes["atag"] == .data(Data(name.utf8)) }
                case .right:
                    let keys = try items(.key).filter {
                        $0.record.attributes["klbl"] == .data(Data(name.utf8))
                    }
                    let secrets = try items(.genericPassword).filter {
                        $0.record.attributes["acct"] == .data(Data(name.utf8))
                    }
                    return keys.count == 1 && secrets.count == 1
                default:
                    return try items(.genericPassword).contains {
                        $0.record.attributes["acct"] == .text(name)
                    }
                }
            }
        }
    }

    /// A context of the program, which was shown the passcode where that comes first.
    private func context(in program: Program) async throws -> LAContext {
        try await program.run(waiting: {
            let context = Self.context()
            guard program.showing == .passcodeFirst else { return context }
            _ = try await context.evaluateAccessControl(
                Self.control(.devicePasscode),
                operation: .useItem,
                localizedReason: "open"
            )
            return context
        })
    }
}
