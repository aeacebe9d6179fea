// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import LocalAuthentication
import Testing
import WhorlService

@Suite struct LAErrorTests {
    /// The code for a failure of the service; those that are not here are `biometryNotAvailable`.
    static func code(for code: ServiceError.Code) -> LAError.Code { codes[code] ?? .biometryNotAvailable }

    private static let codes: [ServiceError.Code: LAError.Code] = [
        .authenticationFailed: .authenticationFailed, .userCancel: .userCancel, .userFallback: .userFallback,
        .systemCancel: .systemCancel, .passcodeNotSet: .passcodeNotSet,
        .biometryNotAvailable: .biometryNotAvailable, .biometryOptedOut: .biometryNotAvailable,
        .biometryNotEnrolled: .biometryNotEnrolled, .biometryLockout: .biometryLockout,
        .appCancel: .appCancel, .invalidContext: .invalidContext, .notInteractive: .notInteractive,
        .biometryDisconnected: .biometryDisconnected, .reasonMissing: .invalidContext,
        .readerInUse: .systemCancel, .timedOut: .systemCancel, .changedMeanwhile: .systemCancel,
        .placeRests: .biometryLockout, .readerNotConnected: .biometryDisconnected,
        .passcodeWrong: .authenticationFailed, .passcodeThrottled: .authenticationFailed,
        .passcodeBusy: .authenticationFailed, .chipLockedOut: .authenticationFailed,
    ]

    /// Every name with Apple's number, as code, as property of the error, and as plain number.
    static let names: [(code: LAError.Code, property: LAError.Code, plain: Int32, number: Int)] = [
        (.authenticationFailed, LAError.authenticationFailed, kLAErrorAuthenticationFailed, -1),
        (.userCancel, LAError.userCancel, kLAErrorUserCancel, -2),
        (.userFallback, LAError.userFallback, kLAErrorUserFallback, -3),
        (.systemCancel, LAError.systemCancel, kLAErrorSystemCancel, -4),
        (.passcodeNotSet, LAError.passcodeNotSet, kLAErrorPasscodeNotSet, -5),
        (.touchIDNotAvailable, LAError.touchIDNotAvailable, kLAErrorTouchIDNotAvailable, -6),
        (.biometryNotAvailable, LAError.biometryNotAvailable, kLAErrorBiometryNotAvailable, -6),
        (.touchIDNotEnrolled, LAError.touchIDNotEnrolled, kLAErrorTouchIDNotEnrolled, -7),
        (.biometryNotEnrolled, LAError.biometryNotEnrolled, kLAErrorBiometryNotEnrolled, -7),
        (.touchIDLockout, LAError.touchIDLockout, kLAErrorTouchIDLockout, -8),
        (.biometryLockout, LAError.biometryLockout, kLAErrorBiometryLockout, -8),
        (.appCancel, LAError.appCancel, kLAErrorAppCancel, -9),
        (.invalidContext, LAError.invalidContext, kLAErrorInvalidContext, -10),
        (.watchNotAvailable, LAError.watchNotAvailable, kLAErrorWatchNotAvailable, -11),
        (.companionNotAvailable, LAError.companionNotAvailable, kLAErrorCompanionNotAvailable, -11),
        (.biometryNotPaired, LAError.biometryNotPaired, kLAErrorBiometryNotPaired, -12),
        (.biometryDisconnected, LAError.biometryDisconnected, kLAErrorBiometryDisconnected, -13),
        (.invalidDimensions, LAError.invalidDimensions, kLAErrorInvalidDimensions, -14),
        (.notInteractive, LAError.notInteractive, kLAErrorNotInteractive, -1004),
    ]

    @Test func `every code has Apple's number in each spelling`() {
        for name in Self.names {
            #expect(name.code.rawValue == name.number)
            #expect(name.property == name.code)
            #expect(Int(name.plain) == name.number)
            #expect(LAError.Code(rawValue: name.number) == name.code)
        }
        #expect(LAErrorDomain == "com.apple.LocalAuthentication")
        #expect(kLAErrorDomain == LAErrorDomain)
        #expect(LAError.errorDomain == LAErrorDomain)
    }

    @Test func `policies and kinds of biometry have Apple's numbers`() {
        let policies: [(LAPolicy, Int32, Int)] = [
            (.deviceOwnerAuthenticationWithBiometrics, kLAPolicyDeviceOwnerAuthenticationWithBiometrics, 1),
            (.deviceOwnerAuthentication, kLAPolicyDeviceOwnerAuthentication, 2),
            (.deviceOwnerAuthenticationWithWatch, kLAPolicyDeviceOwnerAuthenticationWithWatch, 3),
            (.deviceOwnerAuthenticationWithCompanion, kLAPolicyDeviceOwnerAuthenticationWithCompanion, 3),
            (
                .deviceOwnerAuthenticationWithBiometricsOrWatch,
                kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrWatch, 4
            ),
            (
                .deviceOwnerAuthenticationWithBiometricsOrCompanion,
                kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrCompanion, 4
            ),
            (
                .deviceOwnerAuthenticationWithWristDetection,
                kLAPolicyDeviceOwnerAuthenticationWithWristDetection, 5
            ),
        ]
        for (policy, plain, number) in policies {
            #expect(policy.rawValue == number && Int(plain) == number)
            #expect(LAPolicy(rawValue: number) == policy)
        }
        #expect(LAPolicy(rawValue: 0x3f0) == nil)
        let kinds: [(LABiometryType, Int32, Int)] = [
            (.none, kLABiometryTypeNone, 0), (.touchID, kLABiometryTypeTouchID, 1),
            (.faceID, kLABiometryTypeFaceID, 2), (.opticID, kLABiometryTypeOpticID, 4),
            (.LABiometryNone, kLABiometryTypeNone, 0),
        ]
        for (kind, plain, number) in kinds { #expect(kind.rawValue == number && Int(plain) == number) }
        #expect(LACompanionType.watch.rawValue == Int(kLACompanionTypeWatch))
        #expect(LACompanionType.mac.rawValue == Int(kLACompanionTypeMac))
        #expect(LACompanionType.vision.rawValue == 4)
        #expect(LATouchIDAuthenticationMaximumAllowableReuseDuration == 300)
    }

    @Test(arguments: ServiceError.Code.allCases)
    func `a failure keeps its texts and itself`(_ code: ServiceError.Code) async throws {
        let failure = ServiceError(code)
        let context = LAContext.on(Machine(scan: .fails(code)))
        let error = await #expect(throws: LAError.self) {
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "fail")
        }
        let userInfo = try #require(error).userInfo
        #expect(error?.code == Self.code(for: code))
        #expect(userInfo[NSLocalizedDescriptionKey] as? String == failure.message)
        #expect(userInfo[NSLocalizedFailureReasonErrorKey] as? String == failure.message)
        #expect(userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String == failure.recovery)
        #expect((userInfo[NSUnderlyingErrorKey] as? ServiceError)?.code == code)
        #expect(error?.localizedDescription == failure.message)
    }

    @Test func `errors are in sets and are keys of dictionaries`() {
        let errors = [LAError(.userCancel), LAError(.userCancel), LAError(.userFallback)]
        #expect(Set(errors).count == 2)
        #expect(Dictionary(grouping: errors, by: \.self)[LAError(.userCancel)]?.count == 2)
        #expect(AnyHashable(errors[0]).hashValue == AnyHashable(errors[1]).hashValue)
    }

    @Test func `an error of the domain becomes an LAError, whatever its number`() {
        #expect((NSError(domain: LAErrorDomain, code: -99) as? LAError)?.errorCode == -99)
        #expect(NSError(domain: "other", code: -2) as? LAError == nil)
        #expect(LAError(_nsError: NSError(domain: LAErrorDomain, code: -99)).code == .authenticationFailed)
    }
}
