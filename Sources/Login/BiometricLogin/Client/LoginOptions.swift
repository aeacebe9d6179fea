// SPDX-License-Identifier: Apache-2.0

public import Authentication
internal import Vault

/// How a login's key is made and used.
public struct LoginOptions: Sendable {
    /// Which fingers open a key.
    public enum Fingers: String, Sendable, Hashable {
        /// Those that were enrolled when it was made: who adds one later gets nothing.
        case currentSet
        /// Any that is enrolled; the server sees that the set has changed, and may refuse.
        case any
    }

    /// Which fingers open a key that is made; ``Fingers/currentSet`` if nothing is said.
    public var fingers = Fingers.currentSet
    /// Whether the passcode opens it too, where one is set; it does if nothing is said.
    public var takesPasscode = true
    /// Whether several users may enable the login to one server on this device.
    public var allowsSeveralAccounts = false
    /// Who shows the prompt; `nil` for the usual one.
    public var presenter: (any PromptPresenter)?
    /// The text of the cancel button; `nil` for the usual one.
    public var cancelTitle: String?
    /// The text of the fallback button; `nil` for the usual one, empty hides it.
    public var fallbackTitle: String?
    /// For how long each touch is waited for.
    public var patience = Duration.seconds(60)

    /// The usual options.
    public init() {}

    /// What opens a new key.
    func access(withPasscode isPasscodeSet: Bool) throws(VaultError) -> AccessControl {
        let finger: AccessControl =
            switch fingers {
            case .currentSet: .biometryCurrentSet
            case .any: .biometryAny
            }
        return takesPasscode && isPasscodeSet ? try .either(finger, .devicePasscode) : finger
    }
}
