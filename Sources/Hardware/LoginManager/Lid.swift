// SPDX-License-Identifier: Apache-2.0

package import GLibRuntime

/// The lid of a portable machine, and its dock.
package struct Lid: Sendable, Hashable {
    /// Whether the lid is shut; `false` on a machine without one.
    package let isShut: Bool
    /// Whether the machine stands in a dock, or shows its picture on another screen.
    package let isDocked: Bool

    /// Makes a state of the lid.
    package init(isShut: Bool, isDocked: Bool) {
        self.isShut = isShut
        self.isDocked = isDocked
    }
}

/// The part of the system that knows the lid.
package protocol LidManager: Sendable {
    /// Returns the state of the lid now.
    func lid() async throws(SystemBus.Fault) -> Lid
}

extension LoginManager: LidManager {
    package func lid() async throws(SystemBus.Fault) -> Lid {
        Lid(isShut: try await property("LidClosed"), isDocked: try await property("Docked"))
    }
}
