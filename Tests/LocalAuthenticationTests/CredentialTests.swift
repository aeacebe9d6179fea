// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import LocalAuthentication
import Observation
import WhorlSecretMemory
import Synchronization
import Testing
import WhorlService

/// What a program sets on a context, and what reads back.
@Suite struct CredentialTests {
    @Test(arguments: [LACredentialType.applicationPassword, .smartCardPIN])
    func `a credential is set, told of, replaced and cleared`(_ type: LACredentialType) {
        let context = LAContext.on(Machine())
        #expect(!context.isCredentialSet(type))
        #expect(context.setCredential(Data("one".utf8), type: type))
        #expect(context.isCredentialSet(type))
        let other: LACredentialType = type == .smartCardPIN ? .applicationPassword : .smartCardPIN
        #expect(!context.isCredentialSet(other), "each kind is kept for itself")
        #expect(context.setCredential(Data(), type: type))
        #expect(context.isCredentialSet(type), "an empty one is one")
        #expect(context.setCredential(nil, type: type))
        #expect(!context.isCredentialSet(type))
        #expect(context.setCredential(nil, type: type), "clearing what is not there is no failure")
    }

    @Test(arguments: [LACredentialType.applicationPassword, .smartCardPIN])
    func `an invalidated context forgets its credentials and keeps none`(_ type: LACredentialType) {
        let context = LAContext.on(Machine())
        context.setCredential(Data("one".utf8), type: type)
        context.invalidate()
        #expect(!context.isCredentialSet(type))
        #expect(!context.setCredential(Data("two".utf8), type: type))
        #expect(!context.isCredentialSet(type))
    }

    @Test func `an operation gets the program's password, the same bytes`() async throws {
        let context = LAContext.on(Machine())
        let password = Data([0, 1, 255, 0])
        context.setCredential(password, type: .applicationPassword)
        let kept = try await context.core.release { _, request, _ throws(ServiceError) in
            request.applicationPassword
        }.get()
        #expect(kept?.bytes.withUnsafeBytes { Data($0) } == password)
    }

    @Test func `kinds and operations have Apple's numbers`() {
        #expect(LACredentialType.applicationPassword.rawValue == Int(kLACredentialTypeApplicationPassword))
        #expect(LACredentialType.applicationPassword.rawValue == 0)
        #expect(LACredentialType.smartCardPIN.rawValue == Int(kLACredentialSmartCardPIN))
        #expect(LACredentialType.smartCardPIN.rawValue == -3)
        let operations: [(LAAccessControlOperation, Int32)] = [
            (.createItem, kLAAccessControlOperationCreateItem),
            (.useItem, kLAAccessControlOperationUseItem),
            (.createKey, kLAAccessControlOperationCreateKey),
            (.useKeySign, kLAAccessControlOperationUseKeySign),
            (.useKeyDecrypt, kLAAccessControlOperationUseKeyDecrypt),
            (.useKeyKeyExchange, kLAAccessControlOperationUseKeyKeyExchange),
        ]
        for (number, (operation, plain)) in operations.enumerated() {
            #expect(operation.rawValue == number && Int(plain) == number)
        }
        #expect(LACompanionType.none.rawValue == Int(kLACompanionTypeNone))
        #expect(LACompanionType.vision.rawValue == Int(kLACompanionTypeVision))
    }

    @Test func `the number of tries reads back and counts for nothing`() async {
        let context = LAContext.on(Machine())
        #expect(context.maxBiometryFailures == nil)
        context.maxBiometryFailures = 1
        #expect(context.maxBiometryFailures == 1)
        #expect(await context.outcome(.deviceOwnerAuthenticationWithBiometrics) == nil)
        context.maxBiometryFailures = nil
        #expect(context.maxBiometryFailures == nil)
    }

    @Test func `whoever tracks a property is told of its change, and of no other`() async {
        let context = LAContext.on(Machine())
        let observable: any Observable = context
        #expect(observable is LAContext)
        let changes = Mutex<[String]>([])
        withObservationTracking {
            _ = context.localizedCancelTitle
        } onChange: {
            changes.withLock { $0.append("cancel") }
        }
        withObservationTracking {
            _ = context.evaluatedPolicyDomainState
        } onChange: {
            changes.withLock { $0.append("state") }
        }
        context.localizedFallbackTitle = "Other"
        #expect(changes.withLock { $0 } == [])
        context.localizedCancelTitle = "Back"
        #expect(changes.withLock { $0 } == ["cancel"])
        #expect(await context.outcome(.deviceOwnerAuthentication) == nil)
        #expect(changes.withLock { $0 } == ["cancel", "state"])
    }
}
