import LocalAuthentication

let context = LAContext()
context.localizedCancelTitle = "Not now"

do {
    try await context.evaluatePolicy(
        .deviceOwnerAuthenticationWithBiometrics,
        localizedReason: "open the vault"
    )
    print("Welcome back.")
} catch LAError.userCancel {
    print("Then not.")
    exit(2)
} catch {
    print("No: \(error.localizedDescription)")
    exit(1)
}
