// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

func preflight() -> String {
    let context = LAContext()
    var error: NSError?
    guard context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error) else {
        guard let error = error else { return "no error" }
        switch error.code {
        case LAError.biometryNotEnrolled.rawValue: return "not enrolled"
        case Int(kLAErrorBiometryLockout): return "locked out"
        default: return error.localizedDescription
        }
    }
    switch context.biometryType {
    case .none: return "no biometry"
    case .touchID: return "Touch ID"
    case .faceID: return "Face ID"
    case .opticID: return "Optic ID"
    @unknown default: return "something new"
    }
}

func authenticate() -> Bool {
    let semaphore = DispatchSemaphore(value: 0)
    // Written before the signal, read after it.
    nonisolated(unsafe) var isOwner = false
    let context = LAContext()
    context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "open the safe") { success, _ in
        isOwner = success
        semaphore.signal()
    }
    semaphore.wait()
    return isOwner
}

func outcome(_ policy: LAPolicy) async -> String {
    let context = LAContext()
    context.localizedFallbackTitle = "Use PIN"
    context.localizedCancelTitle = "Not now"
    do {
        return try await context.evaluatePolicy(policy, localizedReason: "open the safe") ? "yes" : "no"
    } catch LAError.userFallback {
        return "PIN"
    } catch let error as LAError where error.code == .authenticationFailed {
        return "failed \(error.errorCode)"
    } catch {
        return "\((error as NSError).domain) \((error as NSError).code)"
    }
}

func continued() async -> String {
    let context = LAContext()
    do {
        let isOwner: Bool = try await withCheckedThrowingContinuation { continuation in
            context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "open the safe") {
                success,
                error in
                if let error = error {
                    continuation.resume(throwing: error)
                } else {
                    continuation.resume(returning: success)
                }
            }
        }
        return isOwner ? "yes" : "no"
    } catch {
        return error.localizedDescription
    }
}

/// The ways in which an error that came as one kind is caught as another.
func failures() -> [String] {
    func caught(_ error: Error) -> String {
        do { throw error } catch LAError.userCancel { return "cancel" } catch let error as LAError {
            switch error.code {
            case .biometryNotEnrolled: return "not enrolled"
            case .touchIDLockout: return "lockout"
            default: return "LAError \(error.errorCode)"
            }
        } catch let error as NSError {
            return "\(error.domain) \(error.code)"
        }
    }
    return [
        caught(LAError(.userCancel)),
        caught(NSError(domain: LAErrorDomain, code: -2, userInfo: nil)),
        caught(NSError(domain: LAErrorDomain, code: LAError.biometryLockout.rawValue, userInfo: nil)),
        caught(LAError(.touchIDNotEnrolled)),
        caught(NSError(domain: NSOSStatusErrorDomain, code: Int(errSecItemNotFound), userInfo: nil)),
    ]
}
