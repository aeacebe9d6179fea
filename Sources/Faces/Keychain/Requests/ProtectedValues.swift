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
    private var context: ContextCore { own.context }
    private let own: CallContext
    /// Whether the owner may be asked.
    let interface: KeychainRequest.Interface
    /// Why, in the program's words.
    let prompt: String?

    init(_ request: KeychainRequest, _ parts: ContextParts) {
        own = CallContext(request.context, parts)
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
        /// The set of fingers that it was bound to is no more, and the chip has said so: it never opens again.
        case dead
    }

    /// Asks for a value of an item that is not known to be dead.
    ///
    /// - Throws: why the owner was not recognised, or why the chip refused.
    func open(_ item: SealedItem) throws(KeychainError) -> Opened {
        let mayAsk = interface == .allow
        let result = context.releaseBlocking(reason: prompt) {
            parts,
            request,
            presenter async throws(ReleaseError) -> SecretBox in
            var request = request
            if !mayAsk { request.evaluation.interactionAllowed = false }
            return try await parts.service.secret(in: .sealed(item), request, presenter: presenter).product
        }
        // A finger may have been added in between.
        if case .failure(.vault(let error)) = result, error.code == .enrollmentChanged { return .dead }
        let secret = try mapped(result)
        let framed = secret.bytes.withUnsafeBytes { bytes in
            bytes.first == 1 ? Data(bytes.dropFirst()) : nil
        }
        guard let framed else { throw KeychainError(errSecInvalidRecord) }
        return .value(framed)
    }

    /// Those of the items that never open again, since the chip has another set of fingers; nobody is asked.
    ///
    /// An item about which the chip could not be asked is none of them.
    func dead(of items: [KeychainItem]) throws(KeychainError) -> Set<Int64> {
        var (ids, bound): ([Int64], [SealedItem]) = ([], [])
        for item in items {
            guard let sealed = item.contents.item, sealed.access.isBoundToCurrentSet else { continue }
            ids.append(item.id)
            bound.append(sealed)
        }
        guard !bound.isEmpty else { return [] }
        let asked = bound
        let result = context.releaseBlocking {
            parts,
            _,
            _ async throws(ReleaseError) -> [VaultItem.Standing] in
            do throws(VaultError) {
                return try await parts.service.standing(of: asked)
            } catch {
                throw .vault(error)
            }
        }
        return Set(zip(ids, try mapped(result)).filter { $0.1 == .enrollmentChanged }.map(\.0))
    }

    /// Whether an item never opens again.
    func isDead(_ item: KeychainItem) throws(KeychainError) -> Bool { try !dead(of: [item]).isEmpty }

    private func mapped<Value>(_ result: Result<Value, ReleaseFailure>) throws(KeychainError) -> Value {
        switch result {
        case .success(let value): return value
        case .failure(let failure): throw KeychainError(failure)
        }
    }
}

/// The context of one call.
private final class CallContext {
    private let given: ContextCore?
    private let parts: ContextParts

    init(_ given: ContextCore?, _ parts: ContextParts) {
        self.given = given
        self.parts = parts
    }

    /// Made when something is to be opened or sealed: most calls do without, and a context has a queue.
    private(set) lazy var context: ContextCore = given ?? ContextCore { [parts] in parts }
}
