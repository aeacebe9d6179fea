// SPDX-License-Identifier: Apache-2.0

internal import WhorlTPM
internal import WhorlVault
internal import WhorlService

/// The selected TPM, which is opened only when an operation needs it.
///
/// A simulated TPM must be selected explicitly, and is refused if the configuration does not allow it. If a selected
/// TPM is not available, this is an error. The kernel's resource manager may be missing unless it was selected.
final class ChipChoice: Sendable {
    /// The TPM; if the selection is refused, a device that never exists.
    let device: TPMDevice
    /// Whether an option or a variable selects a TPM; `none` does not count.
    let isNamed: Bool
    /// The reason why the selection is refused; `nil` if it is valid.
    private let refusal: ServiceError?

    /// - Parameters:
    ///   - wanted: A TCTI string; `nil` means the kernel's resource manager.
    ///   - allowsSimulated: Whether a simulated TPM may replace a real one.
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

    /// Returns the TPM, unless the selection is refused.
    func inUse() throws(ServiceError) -> TPMDevice {
        if let refusal { throw refusal }
        return device
    }

    /// Opens the connection to the TPM, without sending a command.
    func reach() async throws(ServiceError) {
        let device = try inUse()
        try await device.run { _ throws(TPMError) in }
    }

    /// Whether a simulated TPM has been used and has responded.
    var usedSimulated: Bool { device.address.isSimulated && device.hasAnswered }

    /// Whether the selected TPM is a real one.
    var isReal: Bool { !device.address.isNone && !device.address.isSimulated }
}

extension TPMAddress {
    /// The name for the kind of TPM, which a program with more privileges than its caller refuses; `nil` for a real
    /// TPM.
    fileprivate var kindForPeople: String? {
        // A recorded TPM would write to a file chosen by the caller's variable.
        isSimulated ? "simulated" : isRecorded ? "recorded" : nil
    }
}
