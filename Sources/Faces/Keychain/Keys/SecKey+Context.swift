// SPDX-License-Identifier: Apache-2.0

internal import Authentication
internal import AuthenticationContext
internal import SecretMemory
internal import Vault

/// A program's context, as a key holds it.
struct KeyContext: Sendable {
    let core: ContextCore
    /// The context itself, which a key keeps: a context that nobody holds has ended.
    ///
    /// Nothing is ever called on it, so it does not matter which thread lets go of it last.
    nonisolated(unsafe) private let holder: any ContextHolder

    init(_ holder: any ContextHolder) {
        self.holder = holder
        core = holder.core
    }
}

extension KeyContext? {
    /// Does an operation in the chip, through the program's context or one for this operation alone.
    func run<Value: Sendable>(_ operation: @escaping ContextCore.Operation<Value>) throws(KeyFailure) -> Value
    {
        let parts = ContextParts.current
        let core = self?.core ?? ContextCore { parts }
        switch core.releaseBlocking(operation) {
        case .success(let value): return value
        case .failure(let failure): throw KeyFailure(failure)
        }
    }

    /// What a keeper stored, as the service that it comes from reads it; `nil` for anything else.
    func item(encoded: Data) -> SealedItem? {
        let service = self?.core.service ?? ContextParts.current.service
        return try? service.sealedItem(encoded: encoded)
    }

    /// Makes a key in the chip.
    func makeKey(_ access: SecAccessControl?) throws(KeyFailure) -> KeyMaterial {
        let control: AccessControl
        do throws(VaultError) {
            control = try access?.vaultAccess() ?? .none
        } catch {
            throw .vault(error)
        }
        let item = try run { parts, request, _ throws(ReleaseError) in
            do throws(VaultError) {
                return try await parts.service.makeKey(
                    access: control,
                    applicationPassword: request.applicationPassword
                )
            } catch {
                throw .vault(error)
            }
        }
        guard let key = KeyMaterial(sealed: item) else {
            throw .status(errSecIO, "the chip made another kind of key")
        }
        return key
    }
}

extension KeyMaterial {
    /// `nil` for what is no P-256 key.
    init?(sealed item: SealedItem) {
        guard item.kind == .key, let point = item.publicKey.flatMap(ECPublicKey.init(x963:)),
            point.curve == .p256
        else { return nil }
        self = .enclave(item, point)
    }
}

extension SecKey {
    /// Has the chip sign a hash.
    ///
    /// The chip signs 32 bytes. ECDSA over P-256 takes the first 256 bits of a longer hash, and a shorter one as a number
    /// with zeros before it (FIPS 186-5, 6.4), which is done here.
    func chipSignature(
        over hash: Data,
        with item: SealedItem,
        _ form: KeyAlgorithm.SignatureForm
    ) throws(KeyFailure) -> Data {
        let digest = Data(count: max(0, 32 - hash.count)) + hash.prefix(32)
        let signature = try context.run { parts, request, presenter throws(ReleaseError) in
            try await parts.service.signature(
                over: digest,
                with: .sealed(item),
                request,
                presenter: presenter
            ).product
        }
        return switch form {
        case .der: signature.der
        case .raw: signature.raw
        }
    }

    /// Has the chip multiply another's public key.
    func chipSharedSecret(with other: ECPublicKey, of item: SealedItem) throws(KeyFailure) -> SecretBox {
        guard other.curve == .p256 else { throw .status(errSecParam, "the keys lie on different curves") }
        return try context.run { parts, request, presenter throws(ReleaseError) in
            try await parts.service.sharedSecret(with: other.x963, of: item, request, presenter: presenter)
                .product
        }
    }
}
