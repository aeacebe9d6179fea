// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

protocol Authenticator {
    func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool
    func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool
}

extension LAContext: Authenticator {}

extension LAContext {
    static let shared = LAContext()
    static var isReady: Bool { shared.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil) }
}

/// A double as one has it in an app's tests.
final class FakeContext: LAContext, @unchecked Sendable {
    override var biometryType: LABiometryType { .faceID }

    override func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        error?.pointee = NSError(domain: LAErrorDomain, code: LAError.passcodeNotSet.rawValue, userInfo: nil)
        return false
    }
}

/// A right of the program's own kind.
final class NamedRight: LARight, @unchecked Sendable {
    let name: String

    init(name: String) {
        self.name = name
        super.init()
    }

    override var state: State { .authorized }
    override func authorize(localizedReason: String) async throws {}
}

func unlock(with authenticator: Authenticator) async -> String {
    var error: NSError?
    guard authenticator.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error) else {
        return "\(error?.code ?? 0)"
    }
    return LAContext.isReady ? "ready" : "not ready"
}
