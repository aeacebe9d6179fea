// SPDX-License-Identifier: Apache-2.0

internal import Authentication
internal import Crypto
internal import Fingerprint
internal import Foundation
internal import SecretMemory
internal import Synchronization
internal import Vault

/// What a chip keeps, in memory: items, what opens them, and what was shown to whom.
final class TestVault: Sendable {
    /// What items are bound to.
    struct Standing: Sendable, Hashable {
        /// The generation of the set of fingers; `nil` while none is enrolled.
        var fingers: UInt64?
        /// Which passcode is set; `nil` while none is.
        var passcode: Int?
    }

    /// One item.
    struct Entry: Sendable {
        let access: AccessControl
        let contents: Contents
        let applicationPassword: SecretBox?
        /// What it was bound to when it was made.
        let binding: Standing
    }

    enum Contents: Sendable {
        case secret(SecretBox)
        case key(P256.KeyAgreement.PrivateKey)
    }

    /// What one session was shown: the print that matched, the passcode that was typed.
    struct Shown: Sendable {
        var print: PrintID?
        var passcode: Int?
    }

    private struct Visitor: Sendable {
        weak let session: OwnerSession?
        var shown = Shown()
    }

    private struct State {
        var entries: [UUID: Entry] = [:]
        var visitors: [ObjectIdentifier: Visitor] = [:]
    }

    private let state = Mutex(State())

    /// Keeps an item.
    func keep(_ entry: Entry) -> SealedItem {
        let id = UUID()
        state.withLock { $0.entries[id] = entry }
        let publicKey: Data? =
            switch entry.contents {
            case .secret: nil
            case .key(let key): key.publicKey.x963Representation
            }
        return PretendedItem(
            kind: publicKey == nil ? .secret : .key,
            profile: TestService.profile,
            access: entry.access,
            publicKey: publicKey,
            id: id
        ).sealed
    }

    /// The item that was kept; `nil` for one of another device.
    func entry(_ item: SealedItem) -> Entry? {
        guard let id = PretendedItem(encoded: item.encoded)?.id else { return nil }
        return state.withLock { $0.entries[id] }
    }

    /// Remembers what an evaluation has shown to a session; a match of a moment ago is not shown to it.
    func remember(_ evaluation: Evaluation, in session: OwnerSession, _ standing: Standing) {
        state.withLock { state in
            state.visitors = state.visitors.filter { $0.value.session != nil }
            var visitor = state.visitors[ObjectIdentifier(session)] ?? Visitor(session: session)
            switch evaluation.method {
            case .biometry: if !evaluation.isReused { visitor.shown.print = evaluation.print }
            case .passcode: visitor.shown.passcode = standing.passcode
            }
            state.visitors[ObjectIdentifier(session)] = visitor
        }
    }

    /// What a session was shown before.
    func shown(to session: OwnerSession?) -> Shown {
        guard let session else { return Shown() }
        return state.withLock { state in
            guard let visitor = state.visitors[ObjectIdentifier(session)], visitor.session === session else {
                return Shown()
            }
            return visitor.shown
        }
    }
}

extension TestVault.Entry {
    /// What has to be asked for, after what was shown before.
    ///
    /// - Parameters:
    ///   - hasFinger: Whether a finger was shown that is still enrolled.
    ///   - passcode: Which passcode was shown.
    ///   - now: What is set now.
    /// - Returns: The prompts, in their order.
    /// - Throws: what a chip's refusal would be told as.
    func asking(
        hasFinger: Bool,
        passcode: Int?,
        _ now: TestVault.Standing
    ) throws(VaultError) -> [AccessControl] {
        let hasPasscode = passcode != nil && passcode == now.passcode
        let isPasscodeGone = access.takesPasscode && binding.passcode != now.passcode
        if access.isBoundToCurrentSet, binding.fingers != now.fingers {
            guard !access.isDeadWithItsSet, !isPasscodeGone else {
                throw VaultError(.enrollmentChanged, "sealed item")
            }
            return hasPasscode ? [] : [.devicePasscode]
        }
        if isPasscodeGone {
            guard !access.isLostWithoutPasscode else {
                throw VaultError(now.passcode == nil ? .passcodeNotSet : .accessDenied, "sealed item")
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
