// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

/// The lock of an app: a finger opens it, or the app's own PIN.
///
/// A finger counts only while the enrolled fingers are those for which the PIN was typed: somebody who knows the device's
/// passcode and enrolls a finger of his own still does not get in.
struct AppLock {
    let settings = Settings()
    /// Asks for the PIN.
    let typedPIN: () -> String?
    /// Tells the person something.
    let say: (String) -> Void

    /// Why fingers do not open the lock now, or `nil` when they do.
    ///
    /// Nobody is asked.
    func obstacle(_ context: LAContext) -> String? {
        guard settings.usesFingers else { return "Fingers are switched off in this app." }
        var error: NSError?
        guard context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error) else {
            return error?.localizedDescription ?? "Fingers cannot be used."
        }
        guard isKnown(context) else { return "The enrolled fingers have changed since the PIN was typed." }
        return nil
    }

    /// Everyday use: a finger, or the PIN.
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
            // A finger may have been added while the prompt was up.
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

    /// What cannot be undone takes the PIN, whatever finger is there.
    func confirmWithPIN() -> Bool {
        guard let pin = settings.pin, let typed = typedPIN() else { return false }
        return typed == pin
    }

    /// The PIN, after which the fingers that are enrolled now count: only then is the new state saved.
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
