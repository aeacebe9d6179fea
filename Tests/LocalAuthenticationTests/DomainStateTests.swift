// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import LocalAuthentication
import Testing

@Suite struct DomainStateTests {
    private let digest = Data(repeating: 7, count: 32)

    @Test func `the evaluated state is nil until a biometric success`() async {
        let context = LAContext.on(Machine())
        #expect(context.evaluatedPolicyDomainState == nil)
        #expect(context.check(.deviceOwnerAuthentication) == nil)
        #expect(context.evaluatedPolicyDomainState == nil, "that policy is not a biometric one")
        #expect(context.check(.deviceOwnerAuthenticationWithCompanion) == -11)
        #expect(context.evaluatedPolicyDomainState == nil)
        #expect(context.check(.deviceOwnerAuthenticationWithBiometrics) == nil)
        #expect(context.evaluatedPolicyDomainState == digest)
    }

    @Test(arguments: [
        LAPolicy.deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthentication,
        .deviceOwnerAuthenticationWithBiometricsOrCompanion,
    ])
    func `an evaluation that a finger met tells the state`(_ policy: LAPolicy) async {
        let context = LAContext.on(Machine())
        #expect(await context.reply(policy) == nil)
        #expect(context.evaluatedPolicyDomainState == digest)
    }

    @Test func `an evaluation that the passcode met does not tell the state`() async {
        let context = LAContext.on(Machine(scan: .passcode))
        #expect(await context.reply(.deviceOwnerAuthentication) == nil)
        #expect(context.evaluatedPolicyDomainState == nil)
    }

    @Test func `a failed preflight does not tell the state`() {
        let context = LAContext.on(Machine(.make(lock: .untilPasscode)))
        #expect(context.check(.deviceOwnerAuthenticationWithBiometrics) == -8)
        #expect(context.evaluatedPolicyDomainState == nil)
    }

    @Test(arguments: [
        Preconditions.ready, .make(lock: .untilPasscode), .make(lock: .for(.seconds(1)), passcode: .notSet),
    ])
    func `the domain state is there on a fresh context and under lockout`(_ preconditions: Preconditions) {
        let state = LAContext.on(Machine(preconditions)).domainState
        #expect(state.biometry.stateHash == digest)
        #expect(state.biometry.biometryType == .touchID)
        #expect(state.stateHash == digest)
    }

    @Test func `the domain state is nil when nothing is enrolled`() {
        let state = LAContext.on(Machine(.make(fingers: .none), digest: nil)).domainState
        #expect(state.biometry.stateHash == nil)
        #expect(state.stateHash == nil)
    }

    @Test func `there never is a companion`() {
        let companion = LAContext.on(Machine()).domainState.companion
        #expect(companion.availableCompanionTypes == Set<LACompanionType>())
        #expect(companion.stateHash == nil)
        #expect(companion.stateHash(for: .watch) == nil)
    }
}
