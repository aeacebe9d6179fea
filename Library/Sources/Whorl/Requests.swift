// SPDX-License-Identifier: Apache-2.0

public import CWhorl

/// Checks whether an evaluation could succeed.
@c @implementation
public func whorl_can_evaluate(_ context: UInt64, _ policy: Int32) -> Int32 {
    unsafe Entry.with(context) { context in
        guard let policy = Asking.Policy(policy) else { return WHORL_INVALID_ARGUMENT }
        return context.begin(
            .canEvaluate,
            Call.plain("Owner.Preflight", Call.question(policy, context.application))
        )
    }
}

/// Prompts the owner.
@c @implementation
public func whorl_evaluate(_ context: UInt64, _ asking: UnsafePointer<whorl_asking>!) -> Int32 {
    let asking = unsafe Asking(asking)
    return unsafe Entry.with(context) { context in
        guard let asking else { return WHORL_INVALID_ARGUMENT }
        let request = asking.request(of: context.application)
        return context.begin(
            .evaluate,
            Call.asking("Owner.Evaluate", Call.member("request", json: request), asking.abilities),
            asking.abilities
        )
    }
}

/// Requests the state of the fingers.
@c @implementation
public func whorl_domain_state(_ context: UInt64) -> Int32 {
    unsafe Entry.with(context) { context in
        context.begin(
            .domainState,
            Call.plain("Fingers.State", Call.member("value", context.application))
        )
    }
}

/// Lists the enrolled fingers.
@c @implementation
public func whorl_fingers(_ context: UInt64) -> Int32 {
    unsafe Entry.with(context) { $0.begin(.fingers, Call.plain("Fingers.List")) }
}

/// Enrolls a finger.
@c @implementation
public func whorl_enroll(
    _ context: UInt64,
    _ finger: UnsafePointer<CChar>!,
    _ label: UnsafePointer<CChar>!,
    _ asking: UnsafePointer<whorl_asking>!
) -> Int32 {
    let name = unsafe Bytes(text: finger)
    let hasLabel = unsafe label != nil
    let words = unsafe Bytes(text: label)
    let asking = unsafe Asking(asking)
    return unsafe Entry.with(context) { context in
        guard let name, let asking, words != nil || !hasLabel else { return WHORL_INVALID_ARGUMENT }
        var call = Bytes(#""finger":{"#)
        call.append(contentsOf: Call.member("finger", name))
        if let words {
            call.append(",")
            call.append(contentsOf: Call.member("label", words))
        }
        call.append("},")
        call.append(contentsOf: Call.member("request", json: asking.consent(of: context.application)))
        return context.begin(
            .enroll,
            Call.asking("Fingers.Enroll", call, asking.abilities),
            asking.abilities
        )
    }
}

/// Removes a finger by its id.
@c @implementation
public func whorl_remove_finger(
    _ context: UInt64,
    _ id: UnsafePointer<CChar>!,
    _ asking: UnsafePointer<whorl_asking>!
) -> Int32 {
    let id = unsafe Bytes(text: id)
    let asking = unsafe Asking(asking)
    return unsafe Entry.with(context) { context in
        guard let id, let asking else { return WHORL_INVALID_ARGUMENT }
        var call = Bytes(#""selection":{"print":{"#)
        call.append(contentsOf: Call.member("id", id))
        call.append(#"}},"force":false,"#)
        call.append(contentsOf: Call.member("request", json: asking.consent(of: context.application)))
        return context.begin(
            .removeFinger,
            Call.asking("Fingers.Remove", call, asking.abilities),
            asking.abilities
        )
    }
}

/// Lists the secrets and keys.
@c @implementation
public func whorl_items(_ context: UInt64) -> Int32 {
    unsafe Entry.with(context) { $0.begin(.items, Call.plain("Items.List")) }
}

/// Stores a secret.
@c @implementation
public func whorl_store_secret(
    _ context: UInt64,
    _ name: UnsafePointer<CChar>!,
    _ access: UnsafePointer<CChar>!,
    _ bytes: UnsafeRawPointer!,
    _ count: Int
) -> Int32 {
    let name = unsafe Bytes(text: name)
    let access = unsafe Bytes(text: access)
    return unsafe Entry.with(context) { context in
        guard let name, let access, unsafe bytes != nil else { return WHORL_INVALID_ARGUMENT }
        guard count > 0 else { return WHORL_SECRET_EMPTY }
        guard count <= 1 << 20 else { return WHORL_SECRET_TOO_LARGE }
        return context.begin(
            .change,
            Call.plain("Items.Add", Call.make("secret", name, access, secret: true))
        ) {
            unsafe library_secret_make(bytes, count)
        }
    }
}

/// Reads a secret.
@c @implementation
public func whorl_read_secret(
    _ context: UInt64,
    _ name: UnsafePointer<CChar>!,
    _ asking: UnsafePointer<whorl_asking>!
) -> Int32 {
    let name = unsafe Bytes(text: name)
    let asking = unsafe Asking(asking)
    return unsafe Entry.with(context) { context in
        guard let name, let asking else { return WHORL_INVALID_ARGUMENT }
        let item = Call.item("secret", name)
        let call = Call.use(item, Bytes(#"{"secret":{}}"#), asking, context.application)
        return context.begin(
            .readSecret,
            Call.asking("Items.Use", call, asking.abilities),
            asking.abilities
        )
    }
}

/// Creates a key.
@c @implementation
public func whorl_make_key(
    _ context: UInt64,
    _ name: UnsafePointer<CChar>!,
    _ access: UnsafePointer<CChar>!
) -> Int32 {
    let name = unsafe Bytes(text: name)
    let access = unsafe Bytes(text: access)
    return unsafe Entry.with(context) { context in
        guard let name, let access else { return WHORL_INVALID_ARGUMENT }
        return context.begin(
            .publicKey,
            Call.plain("Items.Add", Call.make("key", name, access, secret: false))
        )
    }
}

/// Requests the public half of a key.
@c @implementation
public func whorl_public_key(_ context: UInt64, _ name: UnsafePointer<CChar>!) -> Int32 {
    unsafe Entry.named(context, name, .publicKey, "Items.PublicKey", "key")
}

/// Signs a digest.
@c @implementation
public func whorl_sign(
    _ context: UInt64,
    _ name: UnsafePointer<CChar>!,
    _ digest: UnsafeRawPointer!,
    _ count: Int,
    _ asking: UnsafePointer<whorl_asking>!
) -> Int32 {
    let name = unsafe Bytes(text: name)
    let asking = unsafe Asking(asking)
    return unsafe Entry.with(context) { context in
        guard let name, let asking, let digest = unsafe digest else { return WHORL_INVALID_ARGUMENT }
        guard count == 32 else { return WHORL_DIGEST_WRONG_SIZE }
        var use = Bytes(#"{"signature":{"digest":"#)
        use.append(base64: unsafe Bytes(UnsafeRawBufferPointer(start: digest, count: count)))
        use.append("}}")
        let call = Call.use(Call.item("key", name), use, asking, context.application)
        return context.begin(.sign, Call.asking("Items.Use", call, asking.abilities), asking.abilities)
    }
}

/// Deletes a secret.
@c @implementation
public func whorl_delete_secret(
    _ context: UInt64,
    _ name: UnsafePointer<CChar>!,
    _ asking: UnsafePointer<whorl_asking>!
) -> Int32 {
    unsafe Entry.deleting(context, name, asking, "secret")
}

/// Deletes a key.
@c @implementation
public func whorl_delete_key(
    _ context: UInt64,
    _ name: UnsafePointer<CChar>!,
    _ asking: UnsafePointer<whorl_asking>!
) -> Int32 {
    unsafe Entry.deleting(context, name, asking, "key")
}

/// Registers the program as the agent of the session.
@c @implementation
public func whorl_register_agent(_ context: UInt64, _ flags: UInt32) -> Int32 {
    unsafe Entry.with(context) { context in
        guard flags & ~(WHORL_SHOWS_PROMPTS.rawValue | WHORL_TAKES_PASSCODE.rawValue) == 0 else {
            return WHORL_INVALID_ARGUMENT
        }
        let abilities = Screen.Abilities(
            isInteractive: flags & WHORL_SHOWS_PROMPTS.rawValue != 0,
            takesPasscode: flags & WHORL_TAKES_PASSCODE.rawValue != 0
        )
        var call = Bytes(#"{"method":"io.whorl.Agent.Register","more":true,"parameters":{"presenter":"#)
        call.append(contentsOf: abilities.json)
        call.append("}}")
        return context.begin(.agent, call, abilities)
    }
}
