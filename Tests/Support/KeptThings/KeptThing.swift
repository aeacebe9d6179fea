// SPDX-License-Identifier: Apache-2.0

internal import WhorlEngine
internal import BiometricLogin
internal import Foundation
internal import KeychainServices
internal import LocalAuthentication
internal import LoginAssertion
internal import WhorlSecretMemory
internal import SecureEnclaveKeys
internal import SoftwareMachine
internal import WhorlVault
import WhorlService
internal import WhorlSystem

/// One item of one access control in one place.
package struct KeptThing: Codable, Sendable {
    static let applicationPassword = Data("sesame".utf8)

    package let place: Place
    package let access: String
    let name: String
    /// The bytes of an enclave's key, which the program keeps itself.
    private(set) var bytes: Data?

    /// What a secret holds.
    var value: Data { Data("value of \(name)".utf8) }
    static let message = Data("message".utf8)

    package var description: String { "\(place.rawValue) \(access)" }

    /// One that is not made yet.
    package init(_ place: Place, _ access: String) {
        self.place = place
        self.access = access
        name = "\(place.rawValue) " + access.replacing(/[^a-z0-9]/, with: "-")
    }

    /// Makes it.
    package mutating func make(in program: Program) async throws {
        let (value, name, access, flags) = (value, name, access, try Self.flags(access))
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

    /// Deletes it, as its owner does; of a key whose bytes the program keeps there is nothing to delete.
    package func delete(in program: Program) async throws {
        let name = name
        switch place {
        case .secret, .key: try await program.services.vault().delete(try id)
        case .password, .keychainKey:
            let isPassword = place == .password
            let status = try await program.run {
                let query: [CFString: Any] =
                    isPassword
                    ? [kSecClass: kSecClassGenericPassword, kSecAttrAccount: name]
                    : [kSecClass: kSecClassKey, kSecAttrApplicationTag: Data(name.utf8)]
                return SecItemDelete(query as CFDictionary)
            }
            guard status == errSecSuccess else { throw Refused(what: "SecItemDelete \(status)") }
        case .enclaveKey: break
        case .right:
            try await program.run(waiting: {
                try await LARightStore.shared.removeRight(forIdentifier: name)
            })
        case .login:
            guard try await Self.pair(name, access, program).deleteKeys() else {
                throw Refused(what: "deleteKeys")
            }
        }
    }

    // MARK: - Parts

    var id: ItemID {
        get throws { ItemID(place == .secret ? .secret : .key, try ItemName(name), of: "ada") }
    }

    static var password: SecretBox {
        SecretBox(SecretBytes(copying: Array(applicationPassword).span.bytes))
    }

    static func context() -> LAContext {
        let context = LAContext()
        context.setCredential(applicationPassword, type: .applicationPassword)
        return context
    }

    static func pair(_ name: String, _ access: String, _ program: Program) -> BiometricKeys {
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

    static func control(_ flags: SecAccessControlCreateFlags) -> SecAccessControl {
        let lasting = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
        guard let control = SecAccessControlCreateWithFlags(nil, lasting, flags, nil) else {
            preconditionFailure("the flags are right")
        }
        return control
    }

    struct Refused: Error { let what: String }
}
