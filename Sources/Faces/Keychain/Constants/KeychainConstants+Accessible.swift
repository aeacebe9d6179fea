// SPDX-License-Identifier: Apache-2.0

// When an item can be opened at all. A Linux machine has no lock of its own that the kernel or the chip knows, so items
// are readable while their user can run programs, whatever the value; it is kept, given back and matched. Only
// `…WhenPasscodeSetThisDeviceOnly` does something of its own.
//
// An `NSString` of a literal never changes, which the compiler cannot see: hence `nonisolated(unsafe)`.

/// Apple: while the device is unlocked; the default.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
/// Apple: since the first unlock after the start.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
/// Always; deprecated by Apple.
nonisolated(unsafe) public let kSecAttrAccessibleAlways: CFString = "dk"
/// Apple: while the device is unlocked, and never on another device.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
/// Apple: since the first unlock after the start, and never on another device.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
/// Always, and never on another device; deprecated by Apple.
nonisolated(unsafe) public let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"
/// While a passcode is set: such an item cannot be added without one, and is deleted when the passcode is removed.
nonisolated(unsafe) public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"

/// The seven values.
let accessibleValues: Set<String> = ["ak", "ck", "dk", "aku", "cku", "dku", "akpu"]
