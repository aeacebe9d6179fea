// SPDX-License-Identifier: Apache-2.0

// Like a program for Apple's systems: this one import brings Foundation along.
import LocalAuthentication
import Testing

private protocol Evaluating {
    func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool
}

extension LAContext: Evaluating {}

extension LAContext {
    fileprivate static let common = LAContext()
    fileprivate static var isPossible: Bool {
        LAContext.on(Machine()).canEvaluatePolicy(.deviceOwnerAuthentication, error: nil)
    }
}

/// A double of the kind that programs have in their tests.
private final class Double: LAContext, @unchecked Sendable {
    override var biometryType: LABiometryType { .faceID }
    override var evaluatedPolicyDomainState: Data? { Data([1]) }

    override func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        error?.pointee = NSError(domain: LAErrorDomain, code: LAError.biometryLockout.rawValue)
        return false
    }

    override func evaluatePolicy(
        _ policy: LAPolicy,
        localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        reply(false, LAError(.userFallback))
    }

    override func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        throw LAError(.userCancel, userInfo: ["key": "value"])
    }
}

/// What programs write, line by line.
@Suite struct SourceCompatibilityTests {
    private func thrower(_ error: any Error) throws { throw error }

    @Test func `a code is caught by its name`() {
        var caught = ""
        do { try thrower(LAError(.userCancel)) } catch LAError.userFallback {
            caught = "fallback"
        } catch LAError
            .userCancel
        { caught = "cancel" } catch { caught = "other" }
        #expect(caught == "cancel")
        do { try thrower(LAError(.touchIDLockout)) } catch LAError.biometryLockout {
            caught = "lockout"
        } catch {}
        #expect(caught == "lockout")
    }

    @Test func `an NSError is caught by a code's name and as an LAError`() {
        let error = NSError(domain: LAErrorDomain, code: -8, userInfo: ["key": "value"])
        var caught = 0
        do { try thrower(error) } catch LAError.biometryLockout { caught += 1 } catch {}
        do { try thrower(error) } catch let error as LAError {
            caught += error.code == .biometryLockout ? 1 : 0
        } catch {}
        #expect(caught == 2)
        #expect((error as any Error as? LAError)?.userInfo["key"] as? String == "value")
    }

    @Test func `an LAError is caught as an NSError`() throws {
        let error: any Error = LAError(.appCancel)
        #expect((error as NSError).code == -9)
        #expect((error as NSError).domain == LAErrorDomain)
        do { try thrower(error) } catch let error as NSError {
            #expect(error.code == LAError.appCancel.rawValue)
        }
        #expect(error as? LAError == LAError(.appCancel))
        #expect((LAError(.appCancel) as Any as? NSError)?.code == -9)
    }

    @Test func `codes work in a switch, with either spelling, and as raw values`() {
        func name(_ error: LAError) -> String {
            switch error.code {
            case .userCancel: "cancel"
            case .touchIDNotEnrolled: "enrolled"
            case .biometryLockout: "lockout"
            default: "other"
            }
        }
        #expect(name(LAError(.biometryNotEnrolled)) == "enrolled")
        #expect(name(LAError(.touchIDLockout)) == "lockout")
        let error = LAError(.userFallback) as NSError
        switch error.code {
        case LAError.userCancel.rawValue: Issue.record("that is another one")
        case LAError.userFallback.rawValue: break
        default: Issue.record("the raw value is not found")
        }
        #expect(error.code == Int(kLAErrorUserFallback))
        #expect(LAError(.userFallback).errorCode == -3)
    }

    @Test func `the error pointer takes an NSError variable`() {
        var error: NSError?
        #expect(!Double().canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error))
        #expect(error?.code == LAError.Code.biometryLockout.rawValue)
        #expect((error as? LAError)?.code == .biometryLockout)
    }

    @Test func `an unknown policy takes the other branch`() {
        let policy = LAPolicy(rawValue: 0x3f0) ?? .deviceOwnerAuthenticationWithBiometrics
        #expect(policy == .deviceOwnerAuthenticationWithBiometrics)
    }

    @Test func `both forms are overridden apart`() async {
        let double: LAContext = Double()
        #expect(double.biometryType == .faceID)
        #expect(double.evaluatedPolicyDomainState == Data([1]))
        #expect(await double.reply(.deviceOwnerAuthentication) == -3)
        #expect(await double.outcome(.deviceOwnerAuthentication) == -2)
    }

    @Test func `a context meets a program's own protocol`() async throws {
        let evaluating: any Evaluating = LAContext.on(Machine())
        #expect(try await evaluating.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "protocol"))
        #expect(LAContext.isPossible)
    }

    @Test func `a context is hashable by identity and goes into a dictionary`() {
        let context = LAContext()
        let query: [String: AnyHashable] = ["context": context, "name": "item"]
        #expect(query["context"] == AnyHashable(context))
        #expect(query["context"] != AnyHashable(LAContext()))
        #expect((query as [String: Any])["context"] as? LAContext === context)
        #expect(Set([context, LAContext.common]).count == 2)
    }

    @Test func `a semaphore around the reply`() {
        let context = LAContext.on(Machine())
        let semaphore = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var isOwner = false  // written before the signal, read after the wait
        context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "wait") { success, _ in
            isOwner = success
            semaphore.signal()
        }
        semaphore.wait()
        #expect(isOwner)
    }
}
