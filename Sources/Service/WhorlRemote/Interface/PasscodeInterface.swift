// SPDX-License-Identifier: Apache-2.0

import WhorlService

/// The owner's passcode (``PasscodeService``); passcodes lie beside the calls, at the places that they name.
enum PasscodeInterface {
    struct Asking: Codable, Sendable {
        let request: ConsentRequest
        let session: String?
    }

    struct Setting: Codable, Sendable {
        let passcode: Int
        let session: String?
    }

    struct Changing: Codable, Sendable {
        let old: Int
        let new: Int
    }

    struct Removing: Codable, Sendable {
        let passcode: Int
        let force: Bool
    }

    static let isSet = ServiceMethod<NoValue, Valued<Bool>>(repeatable: "io.whorl.Passcode.IsSet")
    static let askForFinger = ServiceMethod<Prompting<Asking>, Prompted<NoValue>>(
        "io.whorl.Passcode.AskForFinger"
    )
    static let set = ServiceMethod<Setting, NoValue>("io.whorl.Passcode.Set")
    static let change = ServiceMethod<Changing, NoValue>("io.whorl.Passcode.Change")
    static let verify = ServiceMethod<Valued<Int>, PasscodeVerdict>("io.whorl.Passcode.Verify")
    static let itemsLostWithout = ServiceMethod<NoValue, Valued<[ItemID]>>(
        repeatable: "io.whorl.Passcode.ItemsLostWithout"
    )
    static let remove = ServiceMethod<Removing, Valued<[ItemID]>>("io.whorl.Passcode.Remove")
}
