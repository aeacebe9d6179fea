// SPDX-License-Identifier: Apache-2.0

// An app that is locked. The PIN comes from the terminal, or from standard input where that is none.
//
//     app-lock set-pin            chooses the PIN
//     app-lock status             says whether a finger would do; asks nobody
//     app-lock unlock             a finger, or the PIN
//     app-lock fingers on|off     this app's own switch
//     app-lock erase              the PIN, and nothing else

import LocalAuthentication

func typedPIN() -> String? {
    guard isatty(STDIN_FILENO) == 1 else { return readLine() }
    return getpass("PIN: ").map { String(cString: $0) }
}

func end(_ message: String, _ status: Int32) -> Never {
    print(message)
    exit(status)
}

let lock = AppLock(typedPIN: typedPIN, say: { print($0) })
switch Array(CommandLine.arguments.dropFirst()) {
case ["set-pin"]:
    // Whoever changes it knows the old one.
    guard lock.settings.pin == nil || lock.confirmWithPIN() else { end("Wrong PIN.", 1) }
    guard let pin = typedPIN(), pin.count >= 4 else { end("A PIN has at least 4 characters.", 64) }
    lock.settings.pin = pin
case ["status"]:
    print(lock.obstacle(LAContext()) ?? "A finger opens the app.")
case ["unlock"]:
    guard await lock.unlock() else { end("Locked.", 1) }
    print("Unlocked.")
case ["fingers", "on"], ["fingers", "off"]:
    guard lock.confirmWithPIN() else { end("Wrong PIN.", 1) }
    lock.settings.usesFingers = CommandLine.arguments.last == "on"
case ["erase"]:
    guard lock.confirmWithPIN() else { end("Wrong PIN.", 1) }
    print("Erased.")
default:
    end("usage: app-lock set-pin|status|unlock|fingers on|fingers off|erase", 64)
}
