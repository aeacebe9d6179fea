// SPDX-License-Identifier: Apache-2.0

// The times at which an item can be opened. Neither the kernel nor the chip of a Linux machine knows a locked state, so
// items are readable while their user can run programs, whatever the value; the value is stored, returned and matched.
// Only `…WhenPasscodeSetThisDeviceOnly` has an effect of its own.
//
// An `NSString` of a literal never changes, which the compiler cannot see: hence `nonisolated(unsafe)`.

/// On Apple's systems, while the device is unlocked; the default.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
/// On Apple's systems, after the first unlock since the start.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
/// Always; deprecated by Apple.
nonisolated(unsafe) public let kSecAttrAccessibleAlways: CFString = "dk"
/// On Apple's systems, while the device is unlocked, and never on another device.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
/// On Apple's systems, after the first unlock since the start, and never on another device.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
/// Always, and never on another device; deprecated by Apple.
nonisolated(unsafe) public let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"
/// While a passcode is set: such an item cannot be added without one, and is deleted when the passcode is removed.
nonisolated(unsafe) public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"

/// The seven values of `kSecAttrAccessible`.
let accessibleValues: Set<String> = ["ak", "ck", "dk", "aku", "cku", "dku", "akpu"]
