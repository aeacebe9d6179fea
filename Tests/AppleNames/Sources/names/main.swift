// SPDX-License-Identifier: Apache-2.0

import CryptoKit
import LocalAuthentication
import Security

// Ordinary code for Apple's systems: nothing here knows of Linux.
let access = SecAccessControlCreateWithFlags(
    nil,
    kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
    [.privateKeyUsage, .biometryCurrentSet],
    nil
)
let query: [String: Any] = [
    kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
    kSecAttrKeySizeInBits as String: 256,
]
var error: Unmanaged<CFError>?
guard let key = SecKeyCreateRandomKey(query as CFDictionary, &error) else {
    throw error!.takeRetainedValue() as Error
}
let message = Data("hello".utf8)
let signature =
    SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message as CFData, &error)! as Data
guard let publicKey = SecKeyCopyPublicKey(key) else { throw CocoaError(.featureUnsupported) }
let bytes = SecKeyCopyExternalRepresentation(publicKey, &error)! as Data
let other = try P256.Signing.PublicKey(x963Representation: bytes)
let isRight = other.isValidSignature(
    try P256.Signing.ECDSASignature(derRepresentation: signature),
    for: message
)
print("signature:", isRight ? "right" : "wrong")
if SecureEnclave.isAvailable {
    let sealed = try SecureEnclave.P256.Signing.PrivateKey(authenticationContext: LAContext())
    let again = try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: sealed.dataRepresentation)
    print("enclave:", sealed.publicKey.isValidSignature(try again.signature(for: message), for: message))
} else {
    print("enclave: none")
}

// Post-quantum keys: of the process, and of the enclave where it has them. Each type is extended by itself.
protocol Named { static var name: String { get } }
extension SecureEnclave.MLKEM768.PrivateKey: Named { static var name: String { "MLKEM768" } }
extension SecureEnclave.MLKEM1024.PrivateKey: Named { static var name: String { "MLKEM1024" } }
extension SecureEnclave.MLDSA65.PrivateKey: Named { static var name: String { "MLDSA65" } }
extension SecureEnclave.MLDSA87.PrivateKey: Named { static var name: String { "MLDSA87" } }

func opened<Key: KEMPrivateKey>(_ key: Key) throws -> Bool {
    let sent = try key.publicKey.encapsulate()
    return try key.decapsulate(sent.encapsulated) == sent.sharedSecret
}

let kem = [try opened(MLKEM768.PrivateKey()), try opened(MLKEM1024.PrivateKey())]
let (small, large) = (try MLDSA65.PrivateKey(), try MLDSA87.PrivateKey())
let signed = [
    small.publicKey.isValidSignature(try small.signature(for: message), for: message),
    large.publicKey.isValidSignature(try large.signature(for: message), for: message),
]
print("post-quantum:", kem, signed)
do {
    guard let access else { throw CocoaError(.featureUnsupported) }
    let key = try SecureEnclave.MLKEM768.PrivateKey(
        accessControl: access,
        authenticationContext: LAContext()
    )
    print(try opened(key))
} catch {
    print("\(SecureEnclave.MLKEM768.PrivateKey.name) in the enclave:", (error as NSError).code)
}
