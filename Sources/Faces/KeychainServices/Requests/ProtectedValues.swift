// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
internal import Foundation
internal import WhorlSecretMemory
internal import WhorlService

/// The values that the TPM seals and opens during one keychain call.
///
/// Sealing a value does not require authentication. Opening a value requires the authentication that its access control
/// specifies. On the way from the TPM to the program's `Data`, values are stored in locked memory.
struct ProtectedValues {
    /// The program's context, or a new one for this call.
    private var context: ContextCore { own.context }
    private let own: CallContext
    /// Whether a prompt may be shown.
    let interface: KeychainRequest.Interface
    /// The program's reason for requesting authentication.
    let prompt: String?

    init(_ request: KeychainRequest, _ parts: ContextParts) {
        own = CallContext(request.context, parts)
        interface = request.interface
        prompt = request.prompt
    }

    /// The maximum size in bytes of a value that the TPM seals.
    ///
    /// This is one byte less than the maximum size of a secret, because a leading byte is added to allow empty values.
    static let longest = (1 << 20) - 1

    /// Seals a value.
    ///
    /// The TPM releases the value only after the authentication that `protection` requires.
    func seal(_ value: Data, _ protection: SecAccessControl) throws(KeychainError) -> SealedItem {
        guard value.count <= ProtectedValues.longest else { throw KeychainError(errSecParam) }
        let secret = SecretBox(
            SecretBytes(count: value.count + 1) { room in
                room[0] = 1
                value.copyBytes(to: UnsafeMutableRawBufferPointer(rebasing: room.dropFirst()))
            }
        )
        let result = context.releaseBlocking(reason: prompt) {
            parts,
            request,
            _ async throws(ServiceError) -> SealedItem in
            try await parts.seal(
                secret,
                access: protection.vaultAccess(),
                applicationPassword: request.applicationPassword
            )
        }
        return try result.mapError(KeychainError.init).get()
    }

    /// The outcome of opening a value.
    enum Opened {
        case value(Data)
        /// The value can never be opened again, because the TPM reports that the enrolled fingers have changed.
        case dead
    }

    /// Opens the value of an item, and prompts the owner if needed.
    ///
    /// - Throws: A status that indicates why the owner was not recognized or the TPM failed.
    func open(_ item: SealedItem) throws(KeychainError) -> Opened {
        let mayAsk = interface == .allow
        let result = context.releaseBlocking(reason: prompt) {
            parts,
            request,
            presenter async throws(ServiceError) -> SecretBox in
            var request = request
            if !mayAsk { request.evaluation.interactionAllowed = false }
            return try await parts.secret(in: .sealed(item), request, presenter: presenter).product
        }
        // A finger may have been added since the check in ``dead(of:)``.
        if case .failure(let error) = result, error.code == .enrollmentChanged { return .dead }
        let secret = try result.mapError(KeychainError.init).get()
        let framed = secret.bytes.withUnsafeBytes { bytes in
            bytes.first == 1 ? Data(bytes.dropFirst()) : nil
        }
        guard let framed else { throw KeychainError(errSecInvalidRecord) }
        return .value(framed)
    }

    /// Returns the numbers of the items that can never be opened again because the set of fingers has changed.
    ///
    /// The owner is not prompted. Items whose state the TPM cannot report are not included.
    func dead(of items: [KeychainRow]) throws(KeychainError) -> Set<Int64> {
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
            _ async throws(ServiceError) -> [VaultItem.Standing] in
            try await parts.standing(of: asked)
        }
        let standings = try result.mapError(KeychainError.init).get()
        return Set(zip(ids, standings).filter { $0.1 == .enrollmentChanged }.map(\.0))
    }

    /// Returns whether an item can never be opened again.
    func isDead(_ item: KeychainRow) throws(KeychainError) -> Bool { try !dead(of: [item]).isEmpty }
}

/// The context of one call.
private final class CallContext {
    private let given: ContextCore?
    private let parts: ContextParts

    init(_ given: ContextCore?, _ parts: ContextParts) {
        self.given = given
        self.parts = parts
    }

    /// The context, created when a value is first opened or sealed.
    ///
    /// Most calls do not need a context, and each context has a queue.
    private(set) lazy var context: ContextCore = given ?? ContextCore { [parts] in parts }
}

/// The bytes of an item, as returned to a program.
///
/// Foundation on Linux copies an `NSData` into a `Data` byte by byte, using the methods of the class. With the methods
/// of Foundation's class, each byte takes 60 nanoseconds, which made `as? Data` the most expensive part of finding an
/// item. With the methods of this class, each byte takes 12 nanoseconds.
final class ItemData: NSData {
    private let room: UnsafeMutableRawBufferPointer

    /// Copies the bytes.
    init(_ bytes: Data) {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        bytes.withUnsafeBytes { room.copyMemory(from: $0) }
        self.room = room
        super.init()
    }

    // NSSecureCoding requires it. Archives name NSData (`classForCoder`), so no archive can lead here.
    @available(*, unavailable)
    required init?(coder: NSCoder) { preconditionFailure("this class is always archived as NSData") }

    deinit { room.deallocate() }

    override var length: Int { room.count }

    override var bytes: UnsafeRawPointer {
        // Empty data may have no address. Nothing is read from it then.
        UnsafeRawPointer(room.baseAddress ?? ItemData.nowhere)
    }

    private static nonisolated(unsafe) let nowhere = UnsafeMutableRawPointer.allocate(
        byteCount: 1,
        alignment: 1
    )

    override func enumerateBytes(
        _ block: (UnsafeRawPointer, NSRange, UnsafeMutablePointer<Bool>) -> Void
    ) {
        var isStopped = false
        block(bytes, NSRange(location: 0, length: length), &isStopped)
    }

    /// The class that archives contain, so that programs without this class can read them.
    override var classForCoder: AnyClass { NSData.self }
}
