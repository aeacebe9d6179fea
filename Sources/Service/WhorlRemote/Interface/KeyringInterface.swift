// SPDX-License-Identifier: Apache-2.0

import WhorlService

/// The keyring that a login by touch opens (``KeyringService``).
enum KeyringInterface {
    struct Asking: Codable, Sendable { let request: ConsentRequest }

    static let status = ServiceMethod<NoValue, Valued<KeyringStatus>>(repeatable: "io.whorl.Keyring.Status")
    static let turnOn = ServiceMethod<Prompting<Asking>, Prompted<NoValue>>("io.whorl.Keyring.TurnOn")
    static let turnOff = ServiceMethod<NoValue, NoValue>("io.whorl.Keyring.TurnOff")
}
