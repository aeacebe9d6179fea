// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
package import WhorlSecretMemory
import WhorlService

/// A key in the TPM, for use by the module that provides such keys under CryptoKit's names.
package struct EnclaveKey: Sendable {
    /// The key.
    package let key: SecKey
    /// The public key in ANSI X9.63 format (65 bytes).
    package let publicKey: Data
    /// The encoding of the key, for the caller to store.
    package let dataRepresentation: Data
}

extension SecKey {
    /// Creates a key in the TPM without storing it.
    ///
    /// - Throws: The same errors as ``SecKeyCreateRandomKey(_:_:)``.
    package static func inChip(
        _ access: SecAccessControl,
        _ context: (any ContextHolder)?
    ) throws(NSError) -> EnclaveKey {
        try access.checkForChip()
        let context = context.map(KeyContext.init)
        return try EnclaveKey(context.makeKey(access), access, context)
    }

    /// Creates a key from an encoding that the caller stored.
    package static func inChip(
        _ dataRepresentation: Data,
        _ context: (any ContextHolder)?
    ) throws(NSError) -> EnclaveKey {
        let context = context.map(KeyContext.init)
        guard let item = context.item(encoded: dataRepresentation), let material = KeyMaterial(sealed: item)
        else { throw .status(errSecDecode, "the bytes do not represent a key in the TPM") }
        return try EnclaveKey(material, nil, context)
    }

    /// Returns the X coordinate of the product of this key and another party's public key.
    ///
    /// - Parameter other: The other party's public key in ANSI X9.63.
    /// - Returns: 32 bytes.
    /// - Throws: An error in `LAErrorDomain` if the owner was not recognized; otherwise, an error with a status.
    package func sharedSecret(withX963 other: Data) throws(NSError) -> SecretBox {
        guard let point = ECPublicKey(x963: other) else {
            throw .status(errSecParam, "the public key is not a point on the curve")
        }
        return try sharedSecret(with: point)
    }
}

extension EnclaveKey {
    fileprivate init(
        _ material: KeyMaterial,
        _ access: SecAccessControl?,
        _ context: KeyContext?
    ) throws(NSError) {
        guard case .enclave(let item, let point) = material else {
            throw .status(errSecInvalidKeyRef, "the key is not in the TPM")
        }
        key = SecKey(material, KeyAttributes(accessControl: access), context: context)
        publicKey = point.x963
        dataRepresentation = item.encoded
    }
}

extension SecAccessControl {
    /// An access control that does not require authentication.
    package static let unguarded = SecAccessControl(
        protection: String(describing: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly),
        flags: []
    )

    /// - Throws: `errSecParam` for an access control that requires authentication but lacks `privateKeyUsage`.
    func checkForChip() throws(NSError) {
        guard isConstrained, !flags.contains(.privateKeyUsage) else { return }
        throw .status(errSecParam, "a protected key in the TPM requires privateKeyUsage")
    }
}

/// The program's context, which a key retains.
struct KeyContext: Sendable {
    let core: ContextCore
    /// The context object.
    ///
    /// The key retains it because a context ends when it is deallocated.
    ///
    /// Its methods are never called, so the last reference to it may be released on any thread.
    nonisolated(unsafe) private let holder: any ContextHolder

    init(_ holder: any ContextHolder) {
        self.holder = holder
        core = holder.core
    }
}

extension KeyContext? {
    /// Performs an operation in the TPM, in the program's context or in a new context for this operation.
    func run<Value: Sendable>(_ operation: @escaping ContextCore.Operation<Value>) -> Result<
        Value, ServiceError
    > {
        let parts = ContextParts.current
        let core = self?.core ?? ContextCore { parts }
        return core.releaseBlocking(operation)
    }

    /// Decodes a sealed item that the caller stored, using the context's service, or returns `nil` for other bytes.
    func item(encoded: Data) -> SealedItem? {
        let service: any ServiceAsker = self?.core.asker ?? ContextParts.current
        // Decoding fails only for bytes that are not a sealed item.
        return try? service.sealedItem(encoded: encoded)
    }

    /// Creates a key in the TPM.
    func makeKey(_ access: SecAccessControl?) throws(NSError) -> KeyMaterial {
        let made = run { parts, request, _ throws(ServiceError) in
            try await parts.makeKey(
                access: access?.vaultAccess() ?? .none,
                applicationPassword: request.applicationPassword
            )
        }
        let item = try made.mapError(\.ofKeyMaking).get()
        guard let key = KeyMaterial(sealed: item) else {
            throw .status(errSecIO, "the TPM created a different kind of key")
        }
        return key
    }
}

extension KeyMaterial {
    /// Creates the material of a key in the TPM, or returns `nil` if the item is not a P-256 key.
    init?(sealed item: SealedItem) {
        guard item.kind == .key, let point = item.publicKey.flatMap(ECPublicKey.init(x963:)),
            point.curve == .p256
        else { return nil }
        self = .enclave(item, point)
    }
}

extension SecKey {
    /// Signs a hash in the TPM.
    ///
    /// The TPM signs 32 bytes. As FIPS 186-5, 6.4, requires for ECDSA over P-256, this method uses the first 256 bits
    /// of a longer hash, and pads a shorter hash with leading zeros.
    func chipSignature(
        over hash: Data,
        with item: SealedItem,
        _ form: KeyAlgorithm.SignatureForm
    ) throws(NSError) -> Data {
        let digest = Data(count: max(0, 32 - hash.count)) + hash.prefix(32)
        let signed = context.run { parts, request, presenter throws(ServiceError) in
            try await parts.signature(
                over: digest,
                with: .sealed(item),
                request,
                presenter: presenter
            ).product
        }
        let signature = try signed.mapError(\.ofKeyUse).get()
        return switch form {
        case .der: signature.der
        case .raw: signature.raw
        }
    }

    /// Computes the shared secret with another party's public key in the TPM.
    func chipSharedSecret(with other: ECPublicKey, of item: SealedItem) throws(NSError) -> SecretBox {
        guard other.curve == .p256 else { throw .status(errSecParam, "the keys are on different curves") }
        return try context.run { parts, request, presenter throws(ServiceError) in
            try await parts.sharedSecret(with: other.x963, of: item, request, presenter: presenter)
                .product
        }.mapError(\.ofKeyUse).get()
    }
}
