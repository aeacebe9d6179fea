// SPDX-License-Identifier: Apache-2.0

package import WhorlService

extension SecAccessControl {
    /// Whether the owner must authenticate before the item is opened.
    package var isConstrained: Bool {
        !flags.isDisjoint(with: .protecting)
    }

    /// Returns the access control that the chip enforces.
    ///
    /// A companion device is never available on Linux: as one of several alternatives it is left out, and an access
    /// control that requires it cannot be met.
    ///
    /// - Throws: `accessRefused` if no Linux machine can meet the access control.
    package func vaultAccess() throws(VaultError) -> AccessControl {
        var parts: [AccessControl] = []
        if flags.contains(.userPresence) { parts.append(.userPresence) }
        if flags.contains(.biometryAny) { parts.append(.biometryAny) }
        if flags.contains(.biometryCurrentSet) { parts.append(.biometryCurrentSet) }
        if flags.contains(.devicePasscode) { parts.append(.devicePasscode) }
        let isOneEnough = flags.contains(.or)
        if flags.contains(.companion), !isOneEnough || parts.isEmpty {
            throw VaultError(.accessRefused("no companion device can be near a Linux machine"))
        }
        var access = parts.first ?? .none
        for part in parts.dropFirst() {
            access = isOneEnough ? try .either(access, part) : try .both(access, part)
        }
        return flags.contains(.applicationPassword) ? access.withApplicationPassword : access
    }
}
