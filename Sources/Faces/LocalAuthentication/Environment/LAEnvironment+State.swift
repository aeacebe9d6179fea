// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import WhorlService

extension LAEnvironment {
    /// The methods by which a machine can recognise its owner, at one moment; states with the same content are equal.
    public final class State: NSObject, NSCopying, Sendable {
        /// The fingerprint reader; `nil` while none is connected.
        public let biometry: MechanismBiometry?
        /// The passcode; this mechanism always exists, whether or not a passcode is set.
        public let userPassword: MechanismUserPassword?
        /// The paired devices; always empty.
        public var companions: [MechanismCompanion] { [] }
        /// All mechanisms.
        public var allMechanisms: [Mechanism] { [biometry, userPassword].compactMap(\.self) }

        init(_ preflight: Preflight) {
            biometry = preflight.hasReader ? MechanismBiometry(preflight) : nil
            userPassword = MechanismUserPassword(isSet: preflight.isPasscodeSet)
            super.init()
        }

        /// Returns the state itself, which never changes.
        public func copy(with zone: NSZone? = nil) -> Any { self }

        /// Whether all mechanisms are equal.
        public override func isEqual(_ object: Any?) -> Bool {
            guard let other = object as? State else { return false }
            return biometry == other.biometry && userPassword == other.userPassword
        }

        /// Hashes all mechanisms.
        public override var hash: Int {
            var hasher = Hasher()
            hasher.combine(biometry)
            hasher.combine(userPassword)
            return hasher.finalize()
        }
    }
}
