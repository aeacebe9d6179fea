// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication
import LocalAuthenticationTesting

// A program of the usual kind: it asks, and its main thread waits for the reply in the way that its argument names. It says
// "yes", "no" and the code, and ends with 0 or 1.

/// Answers in the program's own words, and ends it.
@Sendable func finish(_ isOwner: Bool, _ error: (any Error)?) -> Never {
    print(isOwner ? "yes" : "no \((error as? LAError)?.errorCode ?? 0)")
    exit(isOwner ? 0 : 1)
}

let arguments = CommandLine.arguments.dropFirst()
let device = TestDevice()
device.next(arguments.contains("cancel") ? .cancel : .match)
device.install()

let context = LAContext()
let policy = LAPolicy.deviceOwnerAuthentication

switch arguments.first {
case "dispatchMain":
    context.evaluatePolicy(policy, localizedReason: "wait") { success, error in
        DispatchQueue.main.async { finish(success, error) }
    }
    dispatchMain()
case "runLoop":
    context.evaluatePolicy(policy, localizedReason: "wait") { success, error in
        DispatchQueue.main.async { finish(success, error) }
    }
    RunLoop.main.run()
case "semaphore":
    let semaphore = DispatchSemaphore(value: 0)
    // Written before the signal, read after it.
    nonisolated(unsafe) var answer: (Bool, (any Error)?) = (false, nil)
    context.evaluatePolicy(policy, localizedReason: "wait") { success, error in
        answer = (success, error)
        semaphore.signal()
    }
    semaphore.wait()
    finish(answer.0, answer.1)
case "right":
    let right = LARight()
    let semaphore = DispatchSemaphore(value: 0)
    // Written before the signal, read after it.
    nonisolated(unsafe) var answer: (any Error)?
    right.authorize(localizedReason: "wait") { error in
        answer = error
        semaphore.signal()
    }
    semaphore.wait()
    finish(answer == nil && right.state == .authorized, answer)
case "savedRight":
    LARightStore.shared.saveRight(LARight(), identifier: "safe", secret: Data("secret".utf8)) {
        right,
        error in
        guard let right else { finish(false, error) }
        right.authorize(localizedReason: "wait") { error in
            guard error == nil else { finish(false, error) }
            right.secret.loadData { data, error in
                DispatchQueue.main.async { finish(data == Data("secret".utf8), error) }
            }
        }
    }
    dispatchMain()
default:
    exit(64)
}
