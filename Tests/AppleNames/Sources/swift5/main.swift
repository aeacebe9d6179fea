// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication
import LocalAuthenticationTesting

// What compiles in Swift 5 mode alone: nothing here says who may touch what from where.

protocol Authenticator {
    func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool
    func evaluatePolicy(_ policy: LAPolicy, localizedReason: String, reply: @escaping (Bool, Error?) -> Void)
}

extension LAContext: Authenticator {}

class FakeContext: LAContext {
    var calls = 0

    override func evaluatePolicy(
        _ policy: LAPolicy,
        localizedReason: String,
        reply: @escaping (Bool, Error?) -> Void
    ) {
        calls += 1
        reply(false, NSError(domain: LAErrorDomain, code: LAError.userFallback.rawValue, userInfo: nil))
    }
}

class Lock {
    static var shared = Lock(authenticator: LAContext())

    private let authenticator: Authenticator
    private(set) var isOpen = false
    private(set) var lastError: Error?

    init(authenticator: Authenticator) { self.authenticator = authenticator }

    func open() {
        let semaphore = DispatchSemaphore(value: 0)
        authenticator.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "open the lock") {
            success,
            error in
            self.isOpen = success
            self.lastError = error
            semaphore.signal()
        }
        semaphore.wait()
    }
}

let device = TestDevice()
device.install()

device.next(.match)
Lock.shared.open()
print("shared:", Lock.shared.isOpen)

device.next(.cancel)
Lock.shared.open()
if let error = Lock.shared.lastError as? LAError, error.code == .userCancel { print("cancelled") }

let fake = FakeContext()
let lock = Lock(authenticator: fake)
lock.open()
print("double:", fake.calls, (lock.lastError as NSError?)?.code ?? 0)

var answers = [Bool]()
device.next(.match)
let context = LAContext()
context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "finish") { success, error in
    DispatchQueue.main.async {
        answers.append(success)
        print("dispatchMain:", answers)
        exit(0)
    }
}
dispatchMain()
