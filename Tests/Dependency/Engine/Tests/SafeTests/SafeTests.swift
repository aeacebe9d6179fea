import LocalAuthentication
import LocalAuthenticationTesting
import Testing

@Test func `the vault opens for its owner alone`() async throws {
    let device = TestDevice()
    try await device.run {
        device.next(.noMatch, .match)
        try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "open the vault")
        device.next(.cancel)
        await #expect(throws: LAError.self) {
            try await LAContext().evaluatePolicy(
                .deviceOwnerAuthentication,
                localizedReason: "open the vault"
            )
        }
    }
}
