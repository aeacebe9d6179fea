// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
internal import WhorlSecretMemory
internal import WhorlStateStore
internal import Synchronization
internal import WhorlEngine
internal import WhorlFingerprint
internal import WhorlService
internal import WhorlSupport

/// A simulated vault in memory: its items, their requirements, and the proofs of each session.
final class TestVault: Sendable {
    /// The state that items are bound to.
    struct Binding: Sendable, Hashable {
        /// The generation of the set of fingers, or `nil` while no finger is enrolled.
        var fingers: UInt64?
        /// The number of the current passcode, or `nil` while no passcode is set.
        var passcode: Int?
    }

    /// A stored item.
    struct Entry: Sendable {
        let access: AccessControl
        let contents: Contents
        let applicationPassword: SecretBox?
        /// The state to which the item was bound when it was created.
        let binding: Binding
    }

    /// An item that is stored under a name.
    struct NamedItem: Sendable {
        let item: SealedItem
        let createdAt: Date
    }

    enum Contents: Sendable {
        case secret(SecretBox)
        case key(P256.KeyAgreement.PrivateKey)
    }

    /// The proofs of a session: the fingerprint that matched, and the passcode that was typed.
    struct Shown: Sendable {
        var print: PrintID?
        var passcode: Int?
    }

    /// The program and the purpose for which proofs are valid.
    private struct Scope: Hashable {
        let application: ApplicationID
        let purpose: TouchPurpose
    }

    private struct Visitor: Sendable {
        weak let session: OwnerSession?
        let scope: Scope
        var print: (id: PrintID, term: ProofTerm)?
        var passcode: (number: Int, term: ProofTerm)?
    }

    private struct State {
        var entries: [UUID: Entry] = [:]
        var named: [ItemID: NamedItem] = [:]
        var visitors: [ObjectIdentifier: Visitor] = [:]
    }

    private let state = Mutex(State())

    /// Stores an item.
    func keep(_ entry: Entry) -> SealedItem {
        let id = UUID()
        state.withLock { $0.entries[id] = entry }
        let publicKey: Data? =
            switch entry.contents {
            case .secret: nil
            case .key(let key): key.publicKey.x963Representation
            }
        return SimulatedItem(
            kind: publicKey == nil ? .secret : .key,
            profile: SimulatedMachine.profile,
            access: entry.access,
            publicKey: publicKey,
            id: id
        ).sealed
    }

    /// Returns the stored item, or `nil` for an item of another device.
    func entry(_ item: SealedItem) -> Entry? {
        guard let id = SimulatedItem(encoded: item.encoded)?.id else { return nil }
        return state.withLock { $0.entries[id] }
    }

    /// The items that are stored under names.
    var named: [ItemID: NamedItem] { state.withLock(\.named) }

    /// Stores an item under a name, and returns whether the name was free.
    func name(_ item: SealedItem, _ id: ItemID) -> Bool {
        state.withLock { state in
            guard state.named[id] == nil else { return false }
            state.named[id] = NamedItem(item: item, createdAt: Date())
            return true
        }
    }

    /// Deletes the item with a name.
    func delete(_ id: ItemID) {
        state.withLock { state in
            guard let item = state.named.removeValue(forKey: id)?.item,
                let entry = SimulatedItem(encoded: item.encoded)?.id
            else { return }
            state.entries[entry] = nil
        }
    }

    /// Records the proofs of an evaluation in a request's session.
    ///
    /// A reused match does not count as a proof.
    func remember(
        _ evaluation: Evaluation,
        for request: EvaluationRequest,
        _ binding: Binding,
        at now: Moment
    ) {
        guard let session = request.session else { return }
        let scope = Scope(application: request.application, purpose: request.purpose)
        let term = ProofTerm(of: request.purpose, at: now)
        state.withLock { state in
            state.visitors = state.visitors.filter { $0.value.session != nil }
            var visitor = Visitor(session: session, scope: scope)
            if let known = state.visitors[ObjectIdentifier(session)], known.scope == scope { visitor = known }
            switch evaluation.method {
            case .biometry: if !evaluation.isReused { visitor.print = evaluation.print.map { ($0, term) } }
            case .passcode: visitor.passcode = binding.passcode.map { ($0, term) }
            }
            state.visitors[ObjectIdentifier(session)] = visitor
        }
    }

    /// Returns the proofs of a request's session that are still valid for the request, and counts their use.
    func shown(for request: EvaluationRequest, at now: Moment) -> Shown {
        guard let session = request.session else { return Shown() }
        let scope = Scope(application: request.application, purpose: request.purpose)
        return state.withLock { state in
            guard var visitor = state.visitors[ObjectIdentifier(session)], visitor.session === session,
                visitor.scope == scope
            else { return Shown() }
            if visitor.print?.term.use(at: now, .standard) == false { visitor.print = nil }
            if visitor.passcode?.term.use(at: now, .standard) == false { visitor.passcode = nil }
            state.visitors[ObjectIdentifier(session)] = visitor
            return Shown(print: visitor.print?.id, passcode: visitor.passcode?.number)
        }
    }
}

extension TestVault.Entry {
    /// Returns the requirements that earlier proofs do not meet.
    ///
    /// - Parameters:
    ///   - hasFinger: Whether there is a proof of a finger that is still enrolled.
    ///   - passcode: The number of the passcode that was typed.
    ///   - now: The current state.
    /// - Returns: One access control for each prompt, in order.
    /// - Throws: The error with which a TPM would fail.
    func asking(
        hasFinger: Bool,
        passcode: Int?,
        _ now: TestVault.Binding
    ) throws(ServiceError) -> [AccessControl] {
        let hasPasscode = passcode != nil && passcode == now.passcode
        let isPasscodeGone = access.takesPasscode && binding.passcode != now.passcode
        if access.isBoundToCurrentSet, binding.fingers != now.fingers {
            guard !access.isDeadWithItsSet, !isPasscodeGone else {
                throw ServiceError(.enrollmentChanged, "sealed item")
            }
            return hasPasscode ? [] : [.devicePasscode]
        }
        if isPasscodeGone {
            guard !access.isLostWithoutPasscode else {
                throw ServiceError(now.passcode == nil ? .passcodeNotSet : .accessDenied, "sealed item")
            }
            return hasFinger ? [] : [.biometryAny]
        }
        switch access.asking() {
        case .nothing: return []
        case .finger: return hasFinger ? [] : [.biometryAny]
        case .passcode: return hasPasscode ? [] : [.devicePasscode]
        case .either: return hasFinger || hasPasscode ? [] : [.userPresence]
        case .both: return (hasFinger ? [] : [.biometryAny]) + (hasPasscode ? [] : [.devicePasscode])
        }
    }
}

/// A simulated sealed item: the name of an item that a test's vault stores in memory.
///
/// Its bytes are stored in the same way as those of any other item. A real vault never opens such an item. On a machine
/// with a TPM, opening it fails with `itemTampered`.
struct SimulatedItem: Sendable, Hashable {
    let kind: ItemKind
    let profile: String
    let access: AccessControl
    let publicKey: Data?
    let id: UUID
}

extension SimulatedItem {
    private static let start = Data("whorl pretended item v1\n".utf8)

    /// The sealed item to store, with its properties.
    var sealed: SealedItem {
        var bytes = ByteWriter(SimulatedItem.start)
        for part in [profile, access.text, id.uuidString] { bytes.append(sized: part) }
        bytes.append(sized: publicKey ?? Data())
        return SealedItem(
            kind: kind,
            profile: profile,
            access: access,
            publicKey: publicKey,
            encoded: Data(bytes.bytes)
        )
    }

    /// Parses the bytes of an item, or returns `nil` for bytes that ``sealed`` does not produce.
    init?(encoded: Data) {
        guard encoded.count <= 4096, encoded.starts(with: SimulatedItem.start) else { return nil }
        var bytes = ByteReader(encoded.dropFirst(SimulatedItem.start.count))
        guard let profile = bytes.text(),
            let access = bytes.text()
                .flatMap({ try? AccessControl($0) }),
            let id = bytes.text().flatMap({ UUID(uuidString: $0) }),
            let publicKey = bytes.sized(), [0, 65].contains(publicKey.count),
            bytes.isAtEnd
        else { return nil }
        self.init(
            kind: publicKey.isEmpty ? .secret : .key,
            profile: profile,
            access: access,
            publicKey: publicKey.isEmpty ? nil : publicKey,
            id: id
        )
    }
}
