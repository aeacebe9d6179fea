// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlService

/// The contents of a user's own directory that can be moved to the system service, and those that cannot.
///
/// The plan is made before anything is moved.
struct MigrationPlan: Sendable {
    /// Something that cannot be moved, and how to replace it in the service.
    struct Rest: Sendable, Equatable {
        let kind: String
        let name: String
        let reason: String
        let remedy: String
    }

    /// The secrets to move, each after the owner has unlocked it.
    private(set) var moves: [VaultItem] = []
    /// The names of secrets that already exist in the service, for example after an interrupted run; they are left
    /// unchanged.
    private(set) var there: [String] = []
    /// The contents that cannot be moved.
    private(set) var rests: [Rest] = []
    /// Whether the directory has a finger or a passcode by which to recognize its owner.
    let hasOwner: Bool

    /// Creates the plan.
    ///
    /// - Parameters:
    ///   - own: The items in the user's own directory.
    ///   - service: The user's items in the service.
    ///   - fingers: The fingers enrolled in the user's own directory.
    ///   - hasPasscode: Whether a passcode is set in the user's own directory.
    init(own: [VaultItem], service: [VaultItem], fingers: [Finger], hasPasscode: Bool) {
        let taken = Set(service.filter { $0.id.kind == .secret }.map(\.id.name.text))
        hasOwner = !fingers.isEmpty || hasPasscode
        for finger in fingers { rests.append(.finger(finger)) }
        if hasPasscode { rests.append(.passcode) }
        for item in own {
            switch item.id.kind {
            case .key, .sshKey: rests.append(.key(item))
            case .secret:
                if taken.contains(item.id.name.text) {
                    there.append(item.id.name.text)
                } else if let rest = Rest(secret: item) {
                    rests.append(rest)
                } else {
                    moves.append(item)
                }
            }
        }
    }
}

extension MigrationPlan.Rest {
    fileprivate static func finger(_ finger: Finger) -> Self {
        Self(
            kind: "finger",
            name: finger.rawValue,
            reason: "fingers must be enrolled at the service's own reader",
            remedy: "whorl enroll \(finger.rawValue)"
        )
    }

    fileprivate static let passcode = Self(
        kind: "passcode",
        name: "passcode",
        reason: "the TPM does not reveal it",
        remedy: "whorl passcode set"
    )

    fileprivate static func key(_ item: VaultItem) -> Self {
        Self(
            kind: "key",
            name: item.id.name.text,
            reason: "the private key is bound to this directory and cannot be moved",
            remedy: "whorl key create \(item.id.name.text), then distribute the new public key"
        )
    }

    /// Creates the entry for a secret that cannot be moved; `nil` for one that can.
    fileprivate init?(secret item: VaultItem) {
        let (reason, remedy): (String, String)
        switch item.standing {
        case .valid, .unknown:
            guard item.access.needsApplicationPassword else { return nil }
            reason = "it has its own password"
            remedy = "whorl secret get, then whorl secret add with that password"
        case .enrollmentChanged:
            reason = "it is unusable, because the enrolled fingers changed"
            remedy = "whorl secret add, from its original source"
        case .tampered:
            reason = "it was tampered with"
            remedy = "whorl secret add, from its original source"
        }
        self.init(kind: "secret", name: item.id.name.text, reason: reason, remedy: remedy)
    }
}
