// SPDX-License-Identifier: Apache-2.0

import Authentication
import BiometricLogin
import Foundation
import Keychain
import LocalAuthentication
import LoginAssertion
import SecretMemory
import SecureEnclaveKeys
import Vault
import WhorlService
import WhorlSystem

/// One item of one access control in one place.
struct KeptThing: Sendable {
    let place: Place
    let access: String
    let name: String
    /// The bytes of an enclave's key, which the program keeps itself.
    private var bytes: Data?

    /// What a secret holds.
    private var value: Data { Data("value of \(name)".utf8) }
    private static let message = Data("message".utf8)

    var description: String { "\(place.rawValue) \(access)" }

    /// Makes it.
    init(_ place: Place, _ access: String, in program: Program) async throws {
        self.place = place
        self.access = access
        name = "\(place.rawValue) " + access.replacing(/[^a-z0-9]/, with: "-")
        let (value, name, flags) = (value, name, try Self.flags(access))
        switch place {
        case .secret, .key:
            let control = try AccessControl(access)
            let password = control.needsApplicationPassword ? Self.password : nil
            let vault = try await program.services.vault()
            if place == .secret {
                let secret = SecretBox(SecretBytes(copying: Array(value).span.bytes))
                try await vault.add(secret, as: try id, access: control, applicationPassword: password)
            } else {
                try await vault.createKey(try id, access: control, applicationPassword: password)
            }
        case .password:
            let status = try await program.run {
                let item: [CFString: Any] = [
                    kSecClass: kSecClassGenericPassword, kSecAttrAccount: name, kSecValueData: value,
                    kSecAttrAccessControl: Self.control(flags), kSecUseAuthenticationContext: Self.context(),
                ]
                return SecItemAdd(item as CFDictionary, nil)
            }
            guard status == errSecSuccess else { throw Refused(what: "SecItemAdd \(status)") }
        case .keychainKey:
            try await program.run {
                let half: [CFString: Any] = [
                    kSecAttrIsPermanent: true, kSecAttrApplicationTag: Data(name.utf8),
                    kSecAttrAccessControl: Self.control(flags.union(.privateKeyUsage)),
                ]
                let wanted: [CFString: Any] = [
                    kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
                    kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecPrivateKeyAttrs: half,
                ]
                var error: Unmanaged<CFError>?
                guard SecKeyCreateRandomKey(wanted as CFDictionary, &error) != nil else {
                    throw Refused(what: "SecKeyCreateRandomKey")
                }
            }
        case .enclaveKey:
            bytes = try await program.run {
                try SecureEnclave.P256.Signing.PrivateKey(
                    accessControl: Self.control(flags.union(.privateKeyUsage))
                ).dataRepresentation
            }
        case .right:
            try await program.run(waiting: {
                let right = LARight(requirement: try Self.requirement(access))
                _ = try await LARightStore.shared.saveRight(right, identifier: name, secret: value)
            })
        case .login: _ = try await Self.pair(name, access, program).createKeys()
        }
    }

    /// Whether it gives what it holds to the person who uses the program.
    ///
    /// - Returns: Why not; `nil` when it does.
    func refusal(in program: Program) async -> (any Error)? {
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
            reason: "open",
            application: program.services.application
        )
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
            let released = try await engine.secret(
                in: .stored(try id),
                request,
                presenter: program.person
            )
            guard released.product.bytes.withUnsafeBytes({ Data($0) }) == value else {
                throw Refused(what: "another secret")
            }
        } else {
            _ = try await engine.signature(
                over: Data(count: 32),
                with: .stored(try id),
                request,
                presenter: program.person
            )
        }
    }

    /// Whether its row is still there, read past everything that leaves rows out.
    func isThere(in program: Program) async throws -> Bool {
        let name = name
        switch place {
        case .secret, .key:
            let id = try id
            return try await program.services.services.namedItems.items().contains { $0.id == id }
        case .enclaveKey: return try SealedItem(encoded: bytes ?? Data()).kind == .key
        case .password, .keychainKey, .right, .login:
            let parts = program.parts
            return try await program.run {
                let store = KeychainStore(parts)
                func items(_ itemClass: ItemClass) throws -> [KeychainItem] {
                    try store.items(ItemMatch(itemClass, groups: store.groups), withValues: true)
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

    // MARK: - Parts

    private var id: ItemID {
        get throws { ItemID(place == .secret ? .secret : .key, try ItemName(name), of: "ada") }
    }

    private static var password: SecretBox {
        SecretBox(SecretBytes(copying: Array(Machine.applicationPassword).span.bytes))
    }

    private static func context() -> LAContext {
        let context = LAContext()
        context.setCredential(Machine.applicationPassword, type: .applicationPassword)
        return context
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

    private static func pair(_ name: String, _ access: String, _ program: Program) -> BiometricKeys {
        var options = LoginOptions()
        options.fingers = access.hasPrefix("biometry-current-set") ? .currentSet : .any
        options.takesPasscode = access.hasSuffix("passcode") || access == "user-presence"
        return BiometricKeys(name, options: options) { program.parts }
    }

    private static func requirement(_ access: String) throws -> LAAuthenticationRequirement {
        switch access {
        case "biometry-any": return .biometry
        case "biometry-current-set": return .biometryCurrentSet
        case "user-presence": return .default
        default: throw Refused(what: "no right has \(access)")
        }
    }

    private static func flags(_ access: String) throws -> SecAccessControlCreateFlags {
        switch access.split(separator: "+")[0] {
        case "none": return access.contains("+application") ? .applicationPassword : []
        case "biometry-any": return .biometryAny
        case "biometry-current-set": return .biometryCurrentSet
        case "passcode": return .devicePasscode
        case "user-presence": return .userPresence
        case "biometry-current-set-and-passcode": return [.biometryCurrentSet, .and, .devicePasscode]
        case "biometry-current-set-or-passcode":
            let either: SecAccessControlCreateFlags = [.biometryCurrentSet, .or, .devicePasscode]
            return access.contains("+application") ? either.union(.applicationPassword) : either
        default: throw Refused(what: "no flags for \(access)")
        }
    }

    private static func control(_ flags: SecAccessControlCreateFlags) -> SecAccessControl {
        let lasting = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
        guard let control = SecAccessControlCreateWithFlags(nil, lasting, flags, nil) else {
            preconditionFailure("the flags are right")
        }
        return control
    }

    private struct Refused: Error { let what: String }
}
