// SPDX-License-Identifier: Apache-2.0

internal import CWhorl

/// The caller's settings for prompting the owner.
struct Asking {
    var policy = Policy.biometrics
    var flags: UInt32 = 0
    var reason: Bytes = []
    var cancelTitle: Bytes?
    var fallbackTitle: Bytes?
    var timeout: Int32 = 60_000
    var reuse: Int32 = 0

    enum Policy {
        case biometrics
        case deviceOwner

        init?(_ number: Int32) {
            if number == Int32(WHORL_BIOMETRICS.rawValue) {
                self = .biometrics
            } else if number == Int32(WHORL_DEVICE_OWNER.rawValue) {
                self = .deviceOwner
            } else {
                return nil
            }
        }

        var name: StaticString {
            switch self {
            case .biometrics: "biometrics"
            case .deviceOwner: "device-owner"
            }
        }
    }

    /// Parses the caller's structure; `nil` if any of its values is invalid.
    init?(_ asking: UnsafePointer<whorl_asking>?) {
        guard let asking = unsafe asking, unsafe asking.pointee.size >= MemoryLayout<whorl_asking>.size,
            let policy = unsafe Policy(asking.pointee.policy)
        else { return nil }
        self.policy = policy
        flags = unsafe asking.pointee.flags
        timeout = unsafe asking.pointee.timeout
        reuse = unsafe asking.pointee.reuse
        guard flags & ~15 == 0, timeout > 0, reuse >= 0 else { return nil }
        if unsafe asking.pointee.reason != nil {
            guard let text = unsafe Bytes(text: asking.pointee.reason) else { return nil }
            reason = text
        }
        if unsafe asking.pointee.cancel_title != nil {
            guard let text = unsafe Bytes(text: asking.pointee.cancel_title) else { return nil }
            cancelTitle = text
        }
        if unsafe asking.pointee.fallback_title != nil {
            guard let text = unsafe Bytes(text: asking.pointee.fallback_title) else { return nil }
            fallbackTitle = text
        }
    }

    /// Returns whether a flag is set.
    func has(_ flag: whorl_asking_flags) -> Bool { flags & flag.rawValue != 0 }

    var abilities: Screen.Abilities {
        Screen.Abilities(
            isInteractive: has(WHORL_SHOWS_PROMPTS),
            takesPasscode: has(WHORL_TAKES_PASSCODE)
        )
    }

    /// The request of an evaluation, as JSON.
    ///
    /// Its purpose is "yes"; for the use of an item, the service adds the item's name.
    func request(of application: Bytes) -> Bytes {
        var json = Bytes(#"{"policy":""#)
        json.append(policy.name)
        json.append(#"","purpose":{"kind":"yes"},"reason":"#)
        json.append(text: reason)
        json.append(#","interactionAllowed":"#)
        json.append(has(WHORL_NO_INTERACTION) ? "false" : "true")
        json.append(#","reuseMilliseconds":"#)
        json.append(decimal: UInt64(reuse))
        if let cancelTitle {
            json.append(#","cancelTitle":"#)
            json.append(text: cancelTitle)
        }
        if let fallbackTitle {
            json.append(#","fallbackTitle":"#)
            json.append(text: fallbackTitle)
        }
        appendCommon(application, to: &json)
        return json
    }

    /// The request for the owner's consent, as JSON.
    func consent(of application: Bytes) -> Bytes {
        var json = Bytes("{")
        appendCommon(application, to: &json)
        // The first member must not follow a comma.
        json.remove(at: 1)
        return json
    }

    private func appendCommon(_ application: Bytes, to json: inout Bytes) {
        json.append(#","application":"#)
        json.append(text: application)
        json.append(#","timeoutMilliseconds":"#)
        json.append(decimal: UInt64(timeout))
        if has(WHORL_PASSCODE_ALONE) { json.append(#","passcodeAlone":true"#) }
        json.append("}")
    }
}

extension Bytes {
    /// Copies a string from the caller; `nil` if it is `nil`, longer than 4,096 bytes, or not valid UTF-8.
    init?(text: UnsafePointer<CChar>?) {
        guard let copy = unsafe Bytes(copying: text), copy.isUTF8 else { return nil }
        self = copy
    }
}

/// The calls for requests.
enum Call {
    /// A call with parameters, which are the members of an object.
    static func plain(_ method: StaticString, _ parameters: Bytes = []) -> Bytes {
        var call = Bytes(#"{"method":"io.whorl."#)
        call.append(method)
        call.append(#"","parameters":{"#)
        call.append(contentsOf: parameters)
        call.append("}}")
        return call
    }

    /// A call during which the owner is prompted.
    ///
    /// The parameters are the members of its `call`.
    static func asking(_ method: StaticString, _ call: Bytes, _ abilities: Screen.Abilities) -> Bytes {
        var json = Bytes(#"{"method":"io.whorl."#)
        json.append(method)
        json.append(#"","more":true,"parameters":{"call":{"#)
        json.append(contentsOf: call)
        json.append(#"},"presenter":"#)
        json.append(contentsOf: abilities.json)
        json.append("}}")
        return json
    }

    /// The member with the policy and program of a request.
    static func question(_ policy: Asking.Policy, _ application: Bytes) -> Bytes {
        var json = Bytes(#""policy":""#)
        json.append(policy.name)
        json.append(#"","application":"#)
        json.append(text: application)
        return json
    }

    /// A member whose value is a string.
    static func member(_ name: StaticString, _ text: Bytes) -> Bytes {
        var json = Bytes("\"")
        json.append(name)
        json.append("\":")
        json.append(text: text)
        return json
    }

    /// A member whose value is JSON.
    static func member(_ name: StaticString, json value: Bytes) -> Bytes {
        var json = Bytes("\"")
        json.append(name)
        json.append("\":")
        json.append(contentsOf: value)
        return json
    }

    /// The name of an item, as JSON.
    ///
    /// The service uses the caller's own profile.
    static func item(_ kind: StaticString, _ name: Bytes) -> Bytes {
        var json = Bytes(#"{"profile":"owner","kind":""#)
        json.append(kind)
        json.append(#"","name":"#)
        json.append(text: name)
        json.append("}")
        return json
    }

    /// The members of a call that uses an item.
    static func use(_ item: Bytes, _ use: Bytes, _ asking: Asking, _ application: Bytes) -> Bytes {
        var json = member("id", json: item)
        json.append(",")
        json.append(contentsOf: member("use", json: use))
        json.append(#","asking":{"request":"#)
        json.append(contentsOf: asking.request(of: application))
        json.append("}")
        return json
    }

    /// The members of a call that creates an item.
    ///
    /// A secret is sent with the call.
    static func make(_ kind: StaticString, _ name: Bytes, _ access: Bytes, secret: Bool) -> Bytes {
        var json = member("id", json: item(kind, name))
        json.append(#","item":{"kind":""#)
        json.append(kind)
        json.append(#"","access":"#)
        json.append(text: access)
        if secret { json.append(#","secret":0"#) }
        json.append("}")
        return json
    }
}
