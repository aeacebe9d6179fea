// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What an owner has after a row of commands: all that was acknowledged, and of what was not, what a look has shown.
struct OwnerModel {
    /// Of a secret or a key, what opens it.
    enum Opening: String {
        case anyFinger = "biometry-any"
        case presentSet = "biometry-current-set"
        case passcode
        case presentSetOrPasscode = "biometry-current-set-or-passcode"
    }

    /// Every name that is ever used, and what opens the item of that name.
    static let names: [String: (kind: String, opening: Opening)] = [
        "any": ("secret", .anyFinger), "set-1": ("secret", .presentSet), "set-2": ("secret", .presentSet),
        "pass": ("secret", .passcode), "key": ("key", .presentSet),
        "either": ("secret", .presentSetOrPasscode),
    ]
    /// Never removed, so that there is always a finger to show.
    static let anchor = "right-index-finger"
    static let others = ["left-thumb", "left-index-finger", "right-thumb"]

    struct Item: Equatable {
        /// A secret's bytes; of a key none.
        var bytes: Data
        /// How often the set of fingers had changed when it was made.
        var set: Int
        /// How often the passcode had been removed when it was made.
        var removals: Int
    }

    var fingers: Set<String> = [anchor]
    /// How often the set of fingers has changed.
    var set = 0
    var items: [String: Item] = [:]
    var passcode: String?
    /// How often the passcode was removed: a later one opens nothing of before.
    var removals = 0

    /// Whether the chip must refuse it for good.
    func isDead(_ name: String) -> Bool {
        guard let item = items[name] else { return false }
        return switch Self.names[name]?.opening {
        case .presentSet: item.set != set
        case .presentSetOrPasscode: item.set != set && !(passcode != nil && item.removals == removals)
        case .anyFinger, .passcode, nil: false
        }
    }

    /// Whether a finger alone opens it.
    func opensByFinger(_ name: String) -> Bool {
        guard let item = items[name] else { return false }
        return switch Self.names[name]?.opening {
        case .presentSet, .presentSetOrPasscode: item.set == set
        case .anyFinger: true
        case .passcode, nil: false
        }
    }
}

extension OwnerModel {
    /// One command of the loop.
    enum Command: Equatable {
        case enroll(String)
        case remove(String)
        case add(String, Data)
        case delete(String)
        case setPasscode(String)
        case changePasscode(String)
        case removePasscode
        case verifyPasscode
        case get(String)
    }

    /// A command that succeeds when it is not killed.
    func anyCommand(_ generator: inout some RandomNumberGenerator) -> Command {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0...3:
            let finger = Self.others[Int.random(in: 0..<Self.others.count, using: &generator)]
            return fingers.contains(finger) ? .remove(finger) : .enroll(finger)
        case 4...6:
            let usable = Self.names.keys.sorted().filter {
                passcode != nil || !["pass", "either"].contains($0)
            }
            let name = usable[Int.random(in: 0..<usable.count, using: &generator)]
            if items[name] != nil { return .delete(name) }
            // Sealed by the chip up to 128 bytes, beyond that encrypted under a sealed key.
            let size = Int.random(in: 1...256, using: &generator)
            return .add(name, Data((0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) }))
        case 7:
            let open = items.keys.sorted().filter(opensByFinger)
            guard !open.isEmpty else { return .enroll(Self.others[0]).orRemove(if: fingers) }
            return .get(open[Int.random(in: 0..<open.count, using: &generator)])
        default:
            let next = String(UInt32.random(in: 1000...UInt32.max, using: &generator))
            guard passcode != nil else { return .setPasscode(next) }
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: return .removePasscode
            case 1: return .verifyPasscode
            default: return .changePasscode(next)
            }
        }
    }

    /// What it is after the command has done all it does.
    func after(_ command: Command) -> OwnerModel {
        var next = self
        switch command {
        case .enroll(let finger):
            next.fingers.insert(finger)
            next.set += 1
        case .remove(let finger):
            next.fingers.remove(finger)
            next.set += 1
        case .add(let name, let bytes): next.items[name] = Item(bytes: bytes, set: set, removals: removals)
        case .delete(let name): next.items[name] = nil
        case .setPasscode(let passcode), .changePasscode(let passcode): next.passcode = passcode
        case .removePasscode:
            next.passcode = nil
            next.removals += 1
            next.items["pass"] = nil
        case .verifyPasscode, .get: break
        }
        return next
    }
}

extension OwnerModel.Command {
    fileprivate func orRemove(if fingers: Set<String>) -> Self {
        guard case .enroll(let finger) = self, fingers.contains(finger) else { return self }
        return .remove(finger)
    }
}
