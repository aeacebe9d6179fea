// SPDX-License-Identifier: Apache-2.0

/// The facts about a state directory and its TPM that need neither of them.
public struct MaintenanceFacts: Sendable, Hashable, Codable {
    /// The path of the state directory.
    public let statePath: String
    /// The chosen TPM as the service names it; `none` where none is wanted.
    public let tpmAddress: String
    /// Whether an option or a variable names the TPM, so that its failure is an error.
    public let isTPMNamed: Bool
    /// Whether a simulated TPM has answered.
    public let usedSimulatedTPM: Bool
    /// Whether a real chip protects the state: its key, or at least the authority over its items.
    public let isProtectedByHardware: Bool

    /// Makes the facts; by default those of a service that does not answer.
    public init(
        statePath: String = "",
        tpmAddress: String = "none",
        isTPMNamed: Bool = false,
        usedSimulatedTPM: Bool = false,
        isProtectedByHardware: Bool = false
    ) {
        self.statePath = statePath
        self.tpmAddress = tpmAddress
        self.isTPMNamed = isTPMNamed
        self.usedSimulatedTPM = usedSimulatedTPM
        self.isProtectedByHardware = isProtectedByHardware
    }
}
