// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import LocalAuthentication
import LocalAuthenticationTesting
import Testing

/// Apple's behavior tables against the whole engine, on made-up machines.
@Suite struct BehaviorTests {
    /// A machine, and what it answers: `nil` for yes, else Apple's number.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let prepare: @Sendable () -> TestDevice
        let biometrics: Int?
        let owner: Int?

        init(
            _ name: String,
            _ biometrics: Int?,
            _ owner: Int?,
            _ prepare: @escaping @Sendable () -> TestDevice
        ) {
            testDescription = name
            self.biometrics = biometrics
            self.owner = owner
            self.prepare = prepare
        }
    }

    static let rows = [
        Row("ready", nil, nil) { TestDevice() },
        // Apple's systems say -5 twice: Docs/Apple.md, "Decisions".
        Row("no passcode", nil, nil) { TestDevice(passcode: nil) },
        Row("no sensor", -6, nil) { TestDevice(fingers: [], hasReader: false) },
        Row("no sensor, no passcode", -6, -5) { TestDevice(fingers: [], passcode: nil, hasReader: false) },
        Row("not enrolled", -7, nil) { TestDevice(fingers: []) },
        Row("not enrolled, no passcode", -7, -5) { TestDevice(fingers: [], passcode: nil) },
        Row("locked out", -8, nil) { TestDevice().after { $0.lockOut() } },
        Row("locked out, no passcode", -8, -8) { TestDevice(passcode: nil).after { $0.lockOut() } },
        Row("unplugged", -13, nil) { TestDevice(hasReader: false) },
        Row("unplugged, no passcode", -13, -5) { TestDevice(passcode: nil, hasReader: false) },
        Row("denied", -6, nil) { TestDevice().after { $0.denyFingers() } },
        Row("denied, then allowed", nil, nil) {
            TestDevice().after {
                $0.denyFingers()
                $0.allowFingers()
            }
        },
        Row("locked out, then unlocked", nil, nil) {
            TestDevice().after {
                $0.lockOut()
                $0.unlock()
            }
        },
    ]

    @Test(arguments: rows)
    func `each machine answers the preflight and the evaluation alike`(_ row: Row) async {
        let device = row.prepare()
        let policies: [(LAPolicy, Int?)] = [
            (.deviceOwnerAuthenticationWithBiometrics, row.biometrics),
            (.deviceOwnerAuthenticationWithBiometricsOrCompanion, row.biometrics),
            (.deviceOwnerAuthentication, row.owner),
            (.deviceOwnerAuthenticationWithCompanion, -11),
        ]
        await device.run {
            for (policy, code) in policies {
                #expect(LAContext().preflight(policy) == code, "\(policy)")
                // Whatever is asked for comes: a finger where one counts, else the passcode.
                device.next(.match, .passcode(TestDevice.usualPasscode))
                #expect(await LAContext().result(policy) == code, "\(policy)")
                device.dropActions()
            }
        }
    }

    @Test func `cancel ends both policies, fallback ends one and leads to the passcode in the other`() async {
        let device = TestDevice()
        await device.run {
            for policy in [LAPolicy.deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthentication] {
                device.next(.cancel)
                #expect(await LAContext().result(policy) == -2)
                device.next(.noMatch, .cancel)
                #expect(await LAContext().result(policy) == -2)
            }
            device.next(.fallback)
            #expect(await LAContext().result(.deviceOwnerAuthenticationWithBiometrics) == -3)
            device.next(.fallback, .passcode("wrong"), .passcode(TestDevice.usualPasscode))
            #expect(await LAContext().result(.deviceOwnerAuthentication) == nil)
            let hidden = LAContext()
            hidden.localizedFallbackTitle = ""
            device.next(.fallback, .match)
            #expect(
                await hidden.result(.deviceOwnerAuthenticationWithBiometrics) == nil,
                "nobody can press it"
            )
        }
    }

    @Test func `five failures over two evaluations lock fingers out, and the passcode lets them in again`()
        async
    {
        let device = TestDevice()
        await device.run {
            device.next(.noMatch, .noMatch, .noMatch)
            #expect(await LAContext().result(.deviceOwnerAuthenticationWithBiometrics) == -1)
            device.next(.noMatch, .unreadable(.tooShort), .noMatch)
            #expect(await LAContext().result(.deviceOwnerAuthenticationWithBiometrics) == -8)
            #expect(LAContext().preflight(.deviceOwnerAuthenticationWithBiometrics) == -8)
            device.pass(.seconds(3600))
            #expect(
                LAContext().preflight(.deviceOwnerAuthenticationWithBiometrics) == -8,
                "no timer clears it"
            )
            device.next(.passcode(TestDevice.usualPasscode))
            #expect(await LAContext().result(.deviceOwnerAuthentication) == nil)
            #expect(device.prompts.last?.asksForFinger == false, "the passcode is asked for at once")
            #expect(LAContext().preflight(.deviceOwnerAuthenticationWithBiometrics) == nil)
        }
    }

    @Test func `a success between failures begins the count anew`() async {
        let device = TestDevice()
        await device.run {
            for _ in 0..<3 {
                device.next(.noMatch, .noMatch, .match)
                #expect(await LAContext().result(.deviceOwnerAuthenticationWithBiometrics) == nil)
            }
            #expect(LAContext().preflight(.deviceOwnerAuthenticationWithBiometrics) == nil)
        }
    }

    @Test func `after five wrong passcodes the right one has to wait, also a new one`() async {
        let device = TestDevice(fingers: [])
        await device.run {
            let context = LAContext()
            for _ in 0..<5 { device.next(.passcode("wrong")) }
            device.next(.passcode(TestDevice.usualPasscode), .cancel)
            #expect(await context.result(.deviceOwnerAuthentication) == -2)
            device.setPasscode("1357")
            device.next(.passcode("1357"), .cancel)
            #expect(await context.result(.deviceOwnerAuthentication) == -2)
            device.pass(.seconds(59))
            device.next(.passcode("1357"), .cancel)
            #expect(await context.result(.deviceOwnerAuthentication) == -2)
            device.pass(.seconds(1))
            device.next(.passcode("1357"))
            #expect(await context.result(.deviceOwnerAuthentication) == nil)
            // The right one gives five tries again.
            for _ in 0..<4 { device.next(.passcode("wrong")) }
            device.next(.passcode("1357"))
            #expect(await context.result(.deviceOwnerAuthentication) == nil)
            #expect(device.remainingActions == [])
        }
    }

    @Test func `without a passcode a lock ends by time`() async {
        let device = TestDevice(passcode: nil)
        device.lockOut()
        await device.run {
            device.pass(.seconds(299))
            #expect(LAContext().preflight(.deviceOwnerAuthenticationWithBiometrics) == -8)
            device.pass(.seconds(2))
            #expect(LAContext().preflight(.deviceOwnerAuthenticationWithBiometrics) == nil)
        }
    }

    @Test func `a lock that has ended by time can begin anew, and one that goes on is not prolonged`() async {
        let device = TestDevice(passcode: nil)
        await device.run {
            device.lockOut()
            device.pass(.seconds(200))
            device.lockOut()
            device.pass(.seconds(101))
            #expect(LAContext().preflight(.deviceOwnerAuthenticationWithBiometrics) == nil)
            device.lockOut()
            #expect(LAContext().preflight(.deviceOwnerAuthenticationWithBiometrics) == -8)
        }
    }

    @Test func `a finger that was added and removed does not bring the domain state back`() async {
        let device = TestDevice()
        await device.run {
            let context = LAContext()
            #expect(context.evaluatedPolicyDomainState == nil)
            let before = context.domainState.biometry.stateHash
            #expect(before?.count == 32)
            device.addFinger(.leftIndex)
            let added = context.domainState.biometry.stateHash
            device.removeFinger(.leftIndex)
            let after = context.domainState.biometry.stateHash
            #expect(Set([before, added, after]).count == 3)
            device.removeAllFingers()
            #expect(context.domainState.biometry.stateHash == nil)
            #expect(context.domainState.stateHash == nil)
            #expect(device.fingers.isEmpty)
        }
    }

    @Test func `a reader that is pulled out at the prompt ends it, and the passcode's part goes on`() async {
        let device = TestDevice()
        await device.run {
            device.next(.unplug)
            #expect(await LAContext().result(.deviceOwnerAuthenticationWithBiometrics) == -13)
            #expect(LAContext().biometryType == .none)
            device.plug()
            #expect(LAContext().biometryType == .touchID)
            device.next(.unplug, .passcode(TestDevice.usualPasscode))
            #expect(await LAContext().result(.deviceOwnerAuthentication) == nil)
        }
    }

    @Test func `a match is reused within its window and not after it`() async {
        let device = TestDevice()
        await device.run {
            device.next(.match)
            #expect(await LAContext().result(.deviceOwnerAuthenticationWithBiometrics) == nil)
            let context = LAContext()
            // As long as can be: the test itself takes time.
            context.touchIDAuthenticationAllowableReuseDuration = 300
            context.interactionNotAllowed = true
            #expect(await context.result(.deviceOwnerAuthenticationWithBiometrics) == nil)
            device.pass(.seconds(301))
            #expect(await context.result(.deviceOwnerAuthenticationWithBiometrics) == -1004)
            #expect(device.prompts.count == 1)
        }
    }

    @Test func `a person who does nothing is ended by the app alone`() async {
        let device = TestDevice()
        await device.run {
            device.next(.nothing)
            let context = LAContext()
            async let result = context.result(.deviceOwnerAuthenticationWithBiometrics)
            while device.prompts.isEmpty { await Task.yield() }
            context.invalidate()
            #expect(await result == -9)
            #expect(await context.result(.deviceOwnerAuthenticationWithBiometrics) == -10)
        }
    }

    @Test func `a test that says nothing neither hangs nor succeeds`() async {
        let device = TestDevice()
        await device.run {
            #expect(await LAContext().result(.deviceOwnerAuthenticationWithBiometrics) == -2)
            #expect(await LAContext().result(.deviceOwnerAuthentication) == -2)
            device.otherwise = .passcode("of no use here")
            #expect(await LAContext().result(.deviceOwnerAuthenticationWithBiometrics) == -2)
            device.otherwise = .match
            #expect(await LAContext().result(.deviceOwnerAuthenticationWithBiometrics) == nil)
        }
    }

    @Test func `fingers are told apart by their names`() async {
        let device = TestDevice(fingers: [.rightIndex, .leftThumb])
        await device.run {
            device.next(.finger(.leftThumb))
            #expect(await LAContext().result(.deviceOwnerAuthenticationWithBiometrics) == nil)
            device.next(.finger(.leftIndex), .cancel)
            #expect(await LAContext().result(.deviceOwnerAuthenticationWithBiometrics) == -2)
            #expect(Set(device.fingers) == [.rightIndex, .leftThumb])
        }
    }

    @Test func `two devices at a time know nothing of each other, and nothing of them is left`() async {
        let one = TestDevice()
        let two = TestDevice(fingers: [])
        async let first = one.run { () async -> Int? in
            one.next(.match)
            return await LAContext().result(.deviceOwnerAuthenticationWithBiometrics)
        }
        async let second = two.run { () async -> Int? in
            await LAContext().result(.deviceOwnerAuthenticationWithBiometrics)
        }
        #expect(await first == nil)
        #expect(await second == -7)
    }
}

extension TestDevice {
    func after(_ change: (TestDevice) -> Void) -> TestDevice {
        change(self)
        return self
    }
}

extension LAContext {
    /// What `canEvaluatePolicy` says: `nil` for true, else the error's number.
    func preflight(_ policy: LAPolicy) -> Int? {
        var error: NSError?
        return canEvaluatePolicy(policy, error: &error) ? nil : error?.code ?? 9999
    }

    /// How an evaluation ends: `nil` for success, else the error's number.
    func result(_ policy: LAPolicy) async -> Int? {
        do {
            return try await evaluatePolicy(policy, localizedReason: "test") ? nil : 9999
        } catch {
            return (error as? LAError)?.errorCode ?? 9999
        }
    }
}
