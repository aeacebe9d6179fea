// SPDX-License-Identifier: Apache-2.0

internal import Authentication
internal import AuthenticationContext
internal import SecretMemory
internal import Vault

/// The values that the chip opens, for one call of the keychain: sealing asks nobody, opening asks whom the access control
/// names.
///
/// A value is in locked memory between the chip and the program's own `Data`.
struct ProtectedValues {
    /// The program's context, or one of this call's own.
    let context: ContextCore
    /// Whether the owner may be asked.
    let interface: KeychainRequest.Interface
    /// Why, in the program's words.
    let prompt: String?

    init(_ request: KeychainRequest, _ parts: ContextParts) {
        context = request.context ?? ContextCore { parts }
        interface = request.interface
        prompt = request.prompt
    }

    /// The most bytes that a value may have which the chip opens: a byte before it says that it may be empty.
    static let longest = (1 << 20) - 1

    /// Seals a value; the chip gives it back to whoever shows what `protection` asks for.
    func seal(_ value: Data, _ protection: SecAccessControl) throws(KeychainError) -> ItemContents {
        guard value.count <= ProtectedValues.longest else { throw KeychainError(errSecParam) }
        let access: AccessControl
        do { access = try protection.vaultAccess() } catch { throw KeychainError(error) }
        let secret = SecretBox(
            SecretBytes(count: value.count + 1) { room in
                room[0] = 1
                value.copyBytes(to: UnsafeMutableRawBufferPointer(rebasing: room.dropFirst()))
            }
        )
        let result = context.releaseBlocking(reason: prompt) {
            parts,
            request,
            _ async throws(ReleaseError) -> SealedItem in
            do throws(VaultError) {
                return try await parts.service.seal(
                    secret,
                    access: access,
                    applicationPassword: request.applicationPassword
                )
            } catch {
                throw .vault(error)
            }
        }
        return .secret(try mapped(result))
    }

    /// How an attempt to open a value ended.
    enum Opened {
        case value(Data)
        /// What it was bound to is no more: it never opens again.
        case dead
    }

    /// Asks for a value.
    ///
    /// - Throws: why the owner was not recognised, or why the chip refused.
    func open(_ item: SealedItem) throws(KeychainError) -> Opened {
        let result = release(item, mayAsk: interface == .allow)
        if isDead(result) { return .dead }
        let secret = try mapped(result)
        let framed = secret.bytes.withUnsafeBytes { bytes in
            bytes.first == 1 ? Data(bytes.dropFirst()) : nil
        }
        guard let framed else { throw KeychainError(errSecInvalidRecord) }
        return .value(framed)
    }

    /// Whether a value never opens again; nobody is asked.
    ///
    /// Only what is bound to a set of fingers can come to that.
    func isDead(_ item: SealedItem) -> Bool {
        item.access.isBoundToCurrentSet && isDead(release(item, mayAsk: false))
    }

    private func release(_ item: SealedItem, mayAsk: Bool) -> Result<SecretBox, ReleaseFailure> {
        context.releaseBlocking(reason: prompt) {
            parts,
            request,
            presenter async throws(ReleaseError) -> SecretBox in
            var request = request
            if !mayAsk { request.evaluation.interactionAllowed = false }
            return try await parts.service.secret(in: item, request, presenter: presenter).product
        }
    }

    private func isDead(_ result: Result<SecretBox, ReleaseFailure>) -> Bool {
        guard case .failure(.vault(let error)) = result else { return false }
        return error.code == .enrollmentChanged
    }

    private func mapped<Value>(_ result: Result<Value, ReleaseFailure>) throws(KeychainError) -> Value {
        switch result {
        case .success(let value): return value
        case .failure(let failure): throw KeychainError(failure)
        }
    }
}
