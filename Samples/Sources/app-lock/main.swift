// SPDX-License-Identifier: Apache-2.0

// An app with a lock. The PIN is read from the terminal, or from standard input if that is not a terminal.
//
//     app-lock set-pin            set the PIN
//     app-lock status             show whether a fingerprint can unlock the app, without prompting
//     app-lock unlock             unlock the app with a fingerprint or the PIN
//     app-lock fingers on|off     enable or disable fingerprints for this app
//     app-lock erase              an irreversible action, which always requires the PIN

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
    // Changing the PIN requires the old one.
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
