// SPDX-License-Identifier: Apache-2.0

// As an app's own tests look: these two imports, and the app.
import LocalAuthenticationTesting
import Testing
import Whorl

/// A type of the app with a name that the module has as well.
private enum Secrets {
    static let names = ["token"]
}

@Suite("The module Whorl, on a test device")
struct ExampleTests {
    @Test func `an evaluation returns the finger or the passcode`() async throws {
        let device = TestDevice()
        try await device.run {
            device.next(.noMatch, .match)
            let proof = try await Whorl.evaluate("show your balance")
            #expect(proof == .finger(.rightIndex))
            device.next(.passcode(TestDevice.usualPasscode))
            #expect(try await evaluate("show your balance") == .passcode)
            device.next(.cancel)
            await #expect { try await evaluate("show your balance") } throws: {
                ($0 as? ServiceError)?.code == .userCancel
            }
        }
        #expect(device.prompts.map(\.reason) == Array(repeating: "show your balance", count: 3))
    }

    @Test func `an obstacle says why no one could authenticate`() async {
        let device = TestDevice(fingers: [], passcode: nil)
        await device.run {
            #expect(await obstacle(to: .biometrics)?.code == .biometryNotEnrolled)
            device.addFinger(.leftThumb)
            #expect(await obstacle() == nil)
        }
    }

    @Test func `a secret is released for a touch, until the fingers change`() async throws {
        let device = TestDevice()
        try await device.run {
            let name = Secrets.names[0]
            try await Whorl.Secrets.add(name, Secret("hunter2"), access: .biometryCurrentSet)
            #expect(try await Whorl.Secrets.list().map(\.id.name.text) == [name])
            device.next(.match)
            let secret = try await Whorl.Secrets.get(name, reason: "deploy to production")
            #expect(secret.text() == "hunter2" && secret.count == 7)
            #expect("\(secret)" == "secret of 7 bytes" && String(reflecting: secret) == "secret of 7 bytes")
            await #expect { try await Whorl.Secrets.add(name, Secret([1])) } throws: {
                ($0 as? ServiceError)?.code == .itemExists
            }
            device.addFinger(.leftThumb)
            device.otherwise = .match
            await #expect { try await Whorl.Secrets.get(name, reason: "deploy to production") } throws: {
                ($0 as? ServiceError)?.code == .enrollmentChanged
            }
            try await Whorl.Secrets.delete(name)
            #expect(try await Whorl.Secrets.list().isEmpty)
        }
        #expect(device.prompts.map(\.reason) == ["deploy to production"])
    }

    @Test func `deleting a usable secret prompts`() async throws {
        let device = TestDevice()
        try await device.run {
            try await Whorl.Secrets.add("token", Secret([1]))
            device.next(.cancel, .match)
            await #expect { try await Whorl.Secrets.delete("token") } throws: {
                ($0 as? ServiceError)?.code == .userCancel
            }
            try await Whorl.Secrets.delete("token")
            await #expect { try await Whorl.Secrets.delete("token") } throws: {
                ($0 as? ServiceError)?.code == .noSuchItem
            }
        }
    }

    @Test func `a finger is enrolled in steps, and the digest changes`() async throws {
        let device = TestDevice()
        try await device.run {
            let before = try await Fingers.digest()
            device.next(.match)
            var steps: [Enrollment.Step] = []
            for try await step in Fingers.enroll(.leftThumb) { steps.append(step) }
            #expect(steps.map(\.event) == [.touch, .accepted, .stored])
            #expect(steps.last?.completed == 1 && steps.last?.total == 1)
            #expect(
                try await Fingers.list().map(\.finger).sorted { $0.rawValue < $1.rawValue } == [
                    .leftThumb, .rightIndex,
                ]
            )
            #expect(try await Fingers.digest() != before)
            device.next(.cancel)
            await #expect { for try await _ in Fingers.enroll(.leftRing) {} } throws: {
                ($0 as? ServiceError)?.code == .userCancel
            }
            device.next(.match)
            #expect(try await Fingers.remove(.leftThumb).map(\.finger) == [.leftThumb])
            #expect(try await Fingers.list().count == 1)
        }
    }
}
