// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication
import LocalAuthenticationTesting

// Each idiom once, on a made-up machine whose person does what stands before it. In the other files nothing knows of Linux.
let device = TestDevice()
device.install()

print("preflight:", preflight())
device.next(.match)
print("semaphore:", authenticate())
device.next(.cancel)
print("semaphore, cancelled:", authenticate())
print("items:", items())
device.next(.match)
print("guarded item:", guardedItem())
print("key:", key())
print("errors:", failures().joined(separator: ", "))
device.removeAllFingers()
print("preflight, no finger:", preflight())
device.addFinger(.leftIndex)
device.lockOut()
print("preflight, locked out:", preflight())
device.unlock()

Task {
    device.next(.noMatch, .noMatch, .noMatch)
    print("await, others' fingers:", await outcome(.deviceOwnerAuthenticationWithBiometrics))
    device.next(.fallback)
    print("await, fallback:", await outcome(.deviceOwnerAuthenticationWithBiometrics))
    device.next(.passcode(TestDevice.usualPasscode))
    print("await, passcode:", await outcome(.deviceOwnerAuthentication))
    device.next(.match)
    print("continuation:", await continued())
    print("double:", await unlock(with: FakeContext()), await unlock(with: LAContext.shared))

    // The main thread is given away, and the reply ends the program.
    device.next(.match)
    LAContext.shared.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "finish") { success, _ in
        DispatchQueue.main.async {
            print("dispatchMain:", success)
            exit(success ? 0 : 1)
        }
    }
}
dispatchMain()
