// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TPM
internal import Vault

/// Finds the TPM that is meant; nothing is opened before something needs it.
///
/// A simulated TPM is taken only when it is named, and refused where the configuration does not allow one.
final class ChipChoice: Sendable {
    /// The chip; one that is never there where the choice is refused.
    let device: TPMDevice
    /// Why the choice is refused; `nil` when it is not.
    private let refusal: VaultError?
    private let wasUsed = Atomic(false)

    /// - Parameters:
    ///   - wanted: A TCTI string; `nil` means the kernel's resource manager.
    ///   - allowsSimulated: Whether a simulated TPM may stand in for a chip.
    init(wanted: String?, allowsSimulated: Bool) {
        var address = TPMAddress.standard
        var refusal: VaultError?
        if let wanted {
            do {
                address = try TPMAddress(wanted)
            } catch {
                refusal = VaultError(.noChip, cause: error.description)
            }
        }
        if address.isSimulated, !allowsSimulated {
            refusal = VaultError(
                .noChip,
                cause: "a simulated TPM is named, and this program allows none"
            )
        }
        device = TPMDevice(refusal == nil ? address : .none)
        self.refusal = refusal
    }

    /// The chip, which is about to be used.
    func inUse() throws(VaultError) -> TPMDevice {
        if let refusal { throw refusal }
        wasUsed.store(true, ordering: .relaxed)
        return device
    }

    /// Opens the line to the chip; no command is sent.
    func reach() async throws(VaultError) {
        let device = try inUse()
        do throws(TPMError) {
            try await device.perform { _ throws(TPMError) in }
        } catch {
            throw VaultError(error)
        }
    }

    /// Whether a simulated chip was asked for something.
    var usedSimulated: Bool { device.address.isSimulated && wasUsed.load(ordering: .relaxed) }

    /// Whether a real chip is meant.
    var isReal: Bool { !device.address.isNone && !device.address.isSimulated }
}
