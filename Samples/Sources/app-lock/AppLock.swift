// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

/// The lock of an app, unlocked by a fingerprint or by the app's own PIN.
///
/// Fingerprints are accepted only while the enrolled fingers are the same as when the PIN was last typed. Someone who
/// knows the device's passcode and enrolls their own finger still cannot unlock the app.
struct AppLock {
    let settings = Settings()
    /// Prompts for the PIN.
    let typedPIN: () -> String?
    /// Prints a message to the user.
    let say: (String) -> Void

    /// Returns the reason why a fingerprint cannot unlock the app now, or `nil` if it can.
    ///
    /// Never prompts.
    func obstacle(_ context: LAContext) -> String? {
        guard settings.usesFingers else { return "Fingers are switched off in this app." }
        var error: NSError?
        guard context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error) else {
            return error?.localizedDescription ?? "Fingers cannot be used."
        }
        guard isKnown(context) else { return "The enrolled fingers have changed since the PIN was typed." }
        return nil
    }

    /// Unlocks the app with a fingerprint or the PIN.
    func unlock() async -> Bool {
        let context = LAContext()
        context.localizedFallbackTitle = "Use PIN"
        context.localizedCancelTitle = "Not now"
        if let obstacle = obstacle(context) {
            say(obstacle)
            return unlockWithPIN()
        }
        do {
            try await context.evaluatePolicy(
                .deviceOwnerAuthenticationWithBiometrics,
                localizedReason: "unlock the app"
            )
            // A finger may have been added while the prompt was shown.
            return isKnown(context) || unlockWithPIN()
        } catch LAError.userFallback {
            return unlockWithPIN()
        } catch let error as LAError {
            say(error.localizedDescription)
            switch error.code {
            case .userCancel, .appCancel, .systemCancel: return false
            default: return unlockWithPIN()
            }
        } catch {
            say(error.localizedDescription)
            return false
        }
    }

    /// Confirms an irreversible action, which always requires the PIN.
    func confirmWithPIN() -> Bool {
        guard let pin = settings.pin, let typed = typedPIN() else { return false }
        return typed == pin
    }

    /// Unlocks the app with the PIN, and accepts the currently enrolled fingers from then on.
    private func unlockWithPIN() -> Bool {
        guard confirmWithPIN() else { return false }
        let present = LAContext()
        if present.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil) {
            settings.knownFingers = present.evaluatedPolicyDomainState
        }
        return true
    }

    private func isKnown(_ context: LAContext) -> Bool {
        guard let known = settings.knownFingers, let present = context.evaluatedPolicyDomainState else {
            return false
        }
        return known == present
    }
}
