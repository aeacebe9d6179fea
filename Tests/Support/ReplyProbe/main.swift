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
case "item":
    // The main thread itself waits in the call.
    let status = guardedItem()
    print(status == errSecSuccess ? "yes" : "no \(status)")
    exit(status == errSecSuccess ? 0 : 1)
case "itemOnMainQueue":
    Thread.detachNewThread {
        let status = DispatchQueue.main.sync { guardedItem() }
        print(status == errSecSuccess ? "yes" : "no \(status)")
        exit(status == errSecSuccess ? 0 : 1)
    }
    dispatchMain()
default:
    exit(64)
}

/// Stores an item that asks for a finger, and reads it.
@Sendable func guardedItem() -> OSStatus {
    let control = SecAccessControlCreateWithFlags(
        nil,
        kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
        .biometryCurrentSet,
        nil
    )
    var item: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrService: "guarded",
        kSecAttrAccessControl: control as Any, kSecValueData: Data("v".utf8),
    ]
    guard SecItemAdd(item as CFDictionary, nil) == errSecSuccess else { return errSecParam }
    item = [kSecClass: kSecClassGenericPassword, kSecAttrService: "guarded", kSecReturnData: true]
    var found: CFTypeRef?
    let status = SecItemCopyMatching(item as CFDictionary, &found)
    return status == errSecSuccess && found as? Data != Data("v".utf8) ? errSecDecode : status
}
