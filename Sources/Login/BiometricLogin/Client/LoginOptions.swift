// SPDX-License-Identifier: Apache-2.0

package import WhorlService

/// The options for making and using a login's key.
public struct LoginOptions: Sendable {
    /// The fingers that open a key.
    public enum Fingers: String, Sendable, Hashable {
        /// The fingers that were enrolled when the key was made; a finger that is added later does not open it.
        case currentSet
        /// Any enrolled finger; the server sees that the set has changed, and may refuse.
        case any
    }

    /// The fingers that open a new key; the default is ``Fingers/currentSet``.
    public var fingers = Fingers.currentSet
    /// Whether the passcode also opens it, if one is set; the default is `true`.
    public var takesPasscode = true
    /// Whether a new key is enabled with an attestation, by which the server sees that a TPM guards the key.
    ///
    /// The attestation names this machine's TPM to the server, for as long as the TPM exists; the default is `false`.
    public var attests = false
    /// Whether several users may enable the login to one server on this device.
    public var allowsSeveralAccounts = false
    /// The presenter of the prompt; `nil` for the default.
    public var presenter: (any PromptPresenter)?
    /// The text of the cancel button; `nil` for the default.
    public var cancelTitle: String?
    /// The text of the fallback button; `nil` for the default, empty hides it.
    public var fallbackTitle: String?
    /// The time that a prompt waits for each touch.
    public var patience = Duration.seconds(60)

    /// Makes the default options.
    public init() {}

    /// Returns the access control of a new key.
    func access(withPasscode isPasscodeSet: Bool) throws(VaultError) -> AccessControl {
        let finger: AccessControl =
            switch fingers {
            case .currentSet: .biometryCurrentSet
            case .any: .biometryAny
            }
        return takesPasscode && isPasscodeSet ? try .either(finger, .devicePasscode) : finger
    }
}
