// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
internal import WhorlSecretMemory

/// A request for a new key.
private struct KeyRequest {
    let isRSA: Bool
    let bitCount: Int
    let isInChip: Bool
    let attributes: KeyAttributes
    let context: KeyContext?
    /// The attributes that determine where a permanent key is stored in the keychain.
    let place: [String: Any]
    /// The attributes and keychain attributes of the public half, or `nil` if the public half is not stored.
    let publicHalf: (attributes: KeyAttributes, place: [String: Any])?

    init(_ dictionary: CFDictionary) throws(NSError) {
        let parameters = try KeyParameters(dictionary).taking(kSecPrivateKeyAttrs)
        isRSA = try parameters.isRSA()
        guard let bitCount = try parameters.number(kSecAttrKeySizeInBits) else {
            throw .status(errSecParam, "kSecAttrKeySizeInBits is missing")
        }
        self.bitCount = bitCount
        isInChip = try parameters.isInChip()
        attributes = try KeyAttributes(parameters)
        context = try parameters.context()
        place = parameters.only(
            [
                kSecAttrAccessGroup, kSecAttrSynchronizable, kSecUseAuthenticationContext, kSecAttrAccessible,
                kSecAttrAccessControl,
            ]
        )
        publicHalf = try KeyRequest.publicHalf(dictionary)
        if isInChip { try checkChip() } else { try checkSoftware() }
    }

    private static func publicHalf(
        _ dictionary: CFDictionary
    ) throws(NSError) -> (attributes: KeyAttributes, place: [String: Any])? {
        let all = KeyParameters(dictionary)
        guard let own = try all.nested(kSecPublicKeyAttrs), try own.flag(kSecAttrIsPermanent) == true else {
            return nil
        }
        let parameters = try all.taking(kSecPublicKeyAttrs)
        var attributes = KeyAttributes()
        attributes.label = try parameters.text(kSecAttrLabel)
        attributes.applicationTag = try parameters.bytes(kSecAttrApplicationTag)
        attributes.applicationLabel = try parameters.bytes(kSecAttrApplicationLabel)
        attributes.isPermanent = true
        let place = parameters.only([kSecAttrAccessGroup, kSecAttrSynchronizable, kSecAttrAccessible])
        return (attributes, place)
    }

    private func checkChip() throws(NSError) {
        guard !isRSA, bitCount == 256 else {
            throw .status(errSecUnimplemented, "the TPM supports only elliptic curve keys with 256 bits")
        }
        try attributes.accessControl?.checkForChip()
    }

    private func checkSoftware() throws(NSError) {
        guard let access = attributes.accessControl else { return }
        guard !access.flags.contains(.privateKeyUsage) else {
            throw .status(errSecParam, "privateKeyUsage requires kSecAttrTokenID, which is missing")
        }
        guard attributes.isPermanent || !access.isConstrained else {
            throw .status(errSecParam, "a key in this process cannot be protected unless it is permanent")
        }
    }

    func make() throws(NSError) -> SecKey {
        let material: KeyMaterial
        if isInChip {
            material = try context.makeKey(attributes.accessControl)
        } else if isRSA {
            material = .privateRSA(try RSAPrivateKey(bitCount: bitCount))
        } else {
            guard let curve = KeyCurve(rawValue: bitCount) else {
                throw .status(errSecParam, "elliptic curve keys must have 256, 384 or 521 bits")
            }
            material = .privateEC(try ECPrivateKey(curve))
        }
        let key = SecKey(material, attributes, context: context)
        var stored: [(key: SecKey, place: [String: Any])] = []
        if let publicHalf {
            stored.append((SecKey(material.publicMaterial, publicHalf.attributes), publicHalf.place))
        }
        if attributes.isPermanent { stored.append((key, place)) }
        if !stored.isEmpty { try SecKey.store(stored) }
        return key
    }
}

extension KeyAttributes {
    fileprivate init(_ parameters: KeyParameters) throws(NSError) {
        label = try parameters.text(kSecAttrLabel)
        applicationTag = try parameters.bytes(kSecAttrApplicationTag)
        applicationLabel = try parameters.bytes(kSecAttrApplicationLabel)
        accessControl = try parameters.accessControl()
        isPermanent = try parameters.flag(kSecAttrIsPermanent) == true
    }
}

extension KeyParameters {
    /// Returns whether the key is an RSA key.
    ///
    /// Otherwise, it is an elliptic curve key.
    fileprivate func isRSA() throws(NSError) -> Bool {
        switch try text(kSecAttrKeyType) {
        case String(describing: kSecAttrKeyTypeRSA): return true
        case String(describing: kSecAttrKeyTypeECSECPrimeRandom): return false
        case nil: throw .status(errSecParam, "kSecAttrKeyType is missing")
        case let other?: throw .status(errSecUnimplemented, "keys of type \(other) are not supported")
        }
    }

    fileprivate func isInChip() throws(NSError) -> Bool {
        guard let token = try text(kSecAttrTokenID) else { return false }
        guard token == String(describing: kSecAttrTokenIDSecureEnclave) else {
            throw .status(errSecParam, "the token \"\(token)\" does not exist")
        }
        return true
    }

    /// Returns a tag or label as bytes.
    ///
    /// Programs pass either bytes or a string.
    fileprivate func bytes(_ key: CFString) throws(NSError) -> Data? {
        if let text = self[key] as? String { return Data(text.utf8) }
        return try data(key)
    }

    fileprivate func accessControl() throws(NSError) -> SecAccessControl? {
        guard let value = self[kSecAttrAccessControl] else { return nil }
        guard let access = value as? SecAccessControl else {
            throw .status(errSecParam, "the value under kSecAttrAccessControl is not an access control")
        }
        return access
    }

    fileprivate func context() throws(NSError) -> KeyContext? {
        guard let value = self[kSecUseAuthenticationContext] else { return nil }
        guard let holder = value as? any ContextHolder else {
            throw .status(errSecParam, "the value under kSecUseAuthenticationContext is not a context")
        }
        return KeyContext(holder)
    }
}

// MARK: - Apple's functions

/// Creates a private key.
///
/// To get its public half, call ``SecKeyCopyPublicKey(_:)``.
///
/// If `kSecAttrTokenID` is `kSecAttrTokenIDSecureEnclave`, the TPM creates the key, and the key never leaves it. Such a
/// key must be on P-256, and an access control that requires authentication must include
/// ``SecAccessControlCreateFlags/privateKeyUsage``. Creating it does not prompt. Without this token, the key is created
/// in this process. It can be on P-256, P-384 or P-521, or an RSA key of 1,024 to 8,192 bits.
///
/// - Parameters:
///   - parameters: `kSecAttrKeyType` and `kSecAttrKeySizeInBits`. The dictionary under `kSecPrivateKeyAttrs` takes
///     precedence over the same keys outside of it. The dictionary may contain `kSecAttrIsPermanent`,
///     `kSecAttrApplicationTag`, `kSecAttrLabel`, `kSecAttrAccessControl` and `kSecUseAuthenticationContext`, which is
///     the context in which the key is used from then on. The public half is stored as well if `kSecPublicKeyAttrs`
///     contains `kSecAttrIsPermanent`.
///   - error: On failure, receives an error in `NSOSStatusErrorDomain`: `errSecNotAvailable` if there is no TPM,
///     `errSecParam` for contradictory parameters, or `errSecDuplicateItem` if a permanent key already exists.
/// - Returns: The key, or `nil` if an error occurred.
@discardableResult
public func SecKeyCreateRandomKey(
    _ parameters: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    reporting(to: error) { () throws(NSError) in
        try KeyRequest(parameters).make()
    }
}

/// Creates a key pair; deprecated by Apple in favor of ``SecKeyCreateRandomKey(_:_:)``.
///
/// - Parameters:
///   - parameters: The parameters of ``SecKeyCreateRandomKey(_:_:)``.
///   - publicKey: Receives the public half.
///   - privateKey: Receives the private half.
/// - Returns: `errSecSuccess`, or the status of the failure.
@discardableResult
public func SecKeyGeneratePair(
    _ parameters: CFDictionary,
    _ publicKey: UnsafeMutablePointer<SecKey?>?,
    _ privateKey: UnsafeMutablePointer<SecKey?>?
) -> OSStatus {
    var error: Unmanaged<CFError>?
    guard let key = SecKeyCreateRandomKey(parameters, &error) else {
        return error?.takeRetainedValue().status ?? errSecAuthFailed
    }
    publicKey?.pointee = SecKeyCopyPublicKey(key)
    privateKey?.pointee = key
    return errSecSuccess
}

/// Creates a key from bytes.
///
/// The key is not stored in the keychain.
///
/// - Parameters:
///   - keyData: The bytes of the key. For elliptic curves, they are in ANSI X9.63: 0x04, X, Y and, for a private key,
///     the private number. For RSA, they are PKCS#1 in DER.
///   - attributes: `kSecAttrKeyType` and `kSecAttrKeyClass`. `kSecAttrKeySizeInBits` is optional, but must be correct
///     if it is present. Keys in the TPM cannot be created from bytes.
///   - error: On failure, receives an error in `NSOSStatusErrorDomain`; `errSecDecode` for bytes that cannot be parsed.
/// - Returns: The key, or `nil` if an error occurred.
@discardableResult
public func SecKeyCreateWithData(
    _ keyData: CFData,
    _ attributes: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    reporting(to: error) { () throws(NSError) in
        let parameters = KeyParameters(attributes)
        guard try !parameters.isInChip() else {
            throw .status(errSecParam, "keys in the TPM must be created there and cannot be imported")
        }
        let isPrivate: Bool
        switch try parameters.text(kSecAttrKeyClass) {
        case String(describing: kSecAttrKeyClassPublic): isPrivate = false
        case String(describing: kSecAttrKeyClassPrivate): isPrivate = true
        case nil: throw .status(errSecParam, "kSecAttrKeyClass is missing")
        case let other?: throw .status(errSecParam, "keys of class \(other) are not supported")
        }
        let data = Data(referencing: keyData)
        guard let material = KeyMaterial(data, isRSA: try parameters.isRSA(), isPrivate: isPrivate) else {
            throw .status(errSecDecode, "the bytes are not a key of this type and class")
        }
        if let stated = try parameters.number(kSecAttrKeySizeInBits), stated != material.bitCount {
            throw .status(errSecParam, "the key has \(material.bitCount) bits, not \(stated)")
        }
        return SecKey(material, try KeyAttributes(parameters))
    }
}

extension KeyMaterial {
    /// Parses a key's bytes, or returns `nil` for bytes that cannot be parsed.
    init?(_ data: Data, isRSA: Bool, isPrivate: Bool) {
        switch (isRSA, isPrivate) {
        case (false, false): self.init(ECPublicKey(x963: data).map(KeyMaterial.publicEC))
        case (true, false): self.init(RSAPublicKey(der: data).map(KeyMaterial.publicRSA))
        case (false, true): self.init(ECPrivateKey(x963: SecretBox(copying: data)).map(KeyMaterial.privateEC))
        case (true, true): self.init(RSAPrivateKey(der: SecretBox(copying: data)).map(KeyMaterial.privateRSA))
        }
    }

    private init?(_ material: KeyMaterial?) {
        guard let material else { return nil }
        self = material
    }
}
