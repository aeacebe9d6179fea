// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication
import LocalAuthenticationTesting
import XCTest

/// XCTest: one device in the place of the machine's, for the whole process, while a test runs.
final class SafeXCTests: XCTestCase {
    private var device = TestDevice()

    override func setUp() {
        device = TestDevice()
        device.install()
    }

    override func tearDown() { device.uninstall() }

    func testOpensForItsOwner() async {
        device.next(.match)
        let answer = await Safe().open()
        XCTAssertEqual(answer, .opened)
    }

    func testNoticesAFingerThatWasAdded() {
        let context = LAContext()
        XCTAssertTrue(context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil))
        let before = context.evaluatedPolicyDomainState
        device.addFinger(.leftIndex)
        XCTAssertTrue(context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil))
        XCTAssertNotEqual(context.evaluatedPolicyDomainState, before)
    }

    func testAnswersFromACallbackOnAQueue() {
        device.next(.cancel)
        let replied = expectation(description: "replied")
        DispatchQueue.global().async {
            let context = LAContext()
            context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "open") { success, error in
                XCTAssertFalse(success)
                XCTAssertEqual((error as? LAError)?.code, .userCancel)
                withExtendedLifetime(context) { replied.fulfill() }
            }
        }
        wait(for: [replied], timeout: 240)
    }
}
