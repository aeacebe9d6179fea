// SPDX-License-Identifier: Apache-2.0

// As an app's own tests look: these two imports, and the app.
import LocalAuthentication
import LocalAuthenticationTesting
import Testing

/// The app under test.
struct Safe: Sendable {
    enum Answer: Equatable { case opened, cancelled, usesItsOwnPIN, closed(Int) }

    func open() async -> Answer {
        let context = LAContext()
        context.localizedFallbackTitle = "Use PIN"
        do {
            try await context.evaluatePolicy(
                .deviceOwnerAuthenticationWithBiometrics,
                localizedReason: "open the safe"
            )
            return .opened
        } catch LAError.userCancel {
            return .cancelled
        } catch LAError.userFallback {
            return .usesItsOwnPIN
        } catch {
            return .closed((error as NSError).code)
        }
    }
}

/// Swift Testing: a device for each test, in the test's task; the tests run side by side.
@Suite struct SafeTests {
    @Test func `the safe opens for its owner`() async {
        let device = TestDevice()
        await device.run {
            device.next(.noMatch, .match)
            #expect(await Safe().open() == .opened)
        }
        #expect(device.prompts.map(\.reason) == ["open the safe"])
        #expect(device.prompts.first?.fallbackTitle == "Use PIN")
    }

    @Test func `the safe has a PIN of its own`() async {
        let device = TestDevice(passcode: nil)
        await device.run {
            device.next(.fallback)
            #expect(await Safe().open() == .usesItsOwnPIN)
            device.lockOut()
            #expect(await Safe().open() == .closed(LAError.biometryLockout.rawValue))
        }
    }
}
