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
