// SPDX-License-Identifier: Apache-2.0

internal import WhorlTPM
internal import WhorlVault
internal import WhorlService

/// The choice of the TPM, which is not opened before an operation needs it.
///
/// A simulated TPM is taken only when it is named, and refused where the configuration does not allow one. A TPM that
/// is named and fails is an error. The kernel's resource manager may be absent unless it was named.
final class ChipChoice: Sendable {
    /// The chip; where the choice is refused, a device that is always absent.
    let device: TPMDevice
    /// Whether an option or a variable names a TPM; `none` names none.
    let isNamed: Bool
    /// The reason why the choice is refused; `nil` when it is not.
    private let refusal: ServiceError?

    /// - Parameters:
    ///   - wanted: A TCTI string; `nil` means the kernel's resource manager.
    ///   - allowsSimulated: Whether a simulated TPM may stand in for a chip.
    init(wanted: String?, allowsSimulated: Bool) {
        var address = TPMAddress.standard
        var refusal: ServiceError?
        if let wanted {
            do {
                address = try TPMAddress(wanted)
            } catch {
                refusal = ServiceError(.noChip, error.cause, cause: error.description)
            }
        }
        if !allowsSimulated, let kind = address.kindForPeople {
            let why = "\(kind) TPMs are not allowed here"
            refusal = ServiceError(.noChip, why, cause: why)
        }
        device = TPMDevice(refusal == nil ? address : .none)
        isNamed = wanted != nil && !address.isNone
        self.refusal = refusal
    }

    /// Returns the chip, unless the choice is refused.
    func inUse() throws(ServiceError) -> TPMDevice {
        if let refusal { throw refusal }
        return device
    }

    /// Opens the connection to the chip, without sending a command.
    func reach() async throws(ServiceError) {
        let device = try inUse()
        try await device.run { _ throws(TPMError) in }
    }

    /// Whether a simulated chip has answered.
    var usedSimulated: Bool { device.address.isSimulated && device.hasAnswered }

    /// Whether the chosen chip is a real one.
    var isReal: Bool { !device.address.isNone && !device.address.isSimulated }
}

extension TPMAddress {
    /// The word for a TPM that a program with more rights than its caller refuses; `nil` for a chip.
    fileprivate var kindForPeople: String? {
        // A recorded TPM would write to a file that the caller's variable names.
        isSimulated ? "simulated" : isRecorded ? "recorded" : nil
    }
}
