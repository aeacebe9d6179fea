// SPDX-License-Identifier: Apache-2.0

public import CWhorl

/// Entry from C calls into a context.
enum Entry {
    /// Calls a function with a context, if this call may use it.
    @unsafe static func with(_ context: UInt64, _ body: (Context) -> whorl_status) -> Int32 {
        unsafe number(context) { body($0).rawValue }
    }

    /// Calls a function with a context, if this call may use it.
    @unsafe static func number(_ context: UInt64, _ body: (Context) -> Int32) -> Int32 {
        var object: UnsafeMutableRawPointer?
        let status = unsafe table_enter(context, &object)
        guard status == WHORL_OK.rawValue, let object = unsafe object else {
            if unsafe object != nil { table_leave(context) }
            return status
        }
        defer { table_leave(context) }
        return body(unsafe Unmanaged<Context>.fromOpaque(object).takeUnretainedValue())
    }

    /// Calls a function with a context and one of its prompts.
    ///
    /// Without a name, it is the newest one.
    @unsafe static func prompt(
        _ context: UInt64,
        _ prompt: UnsafePointer<CChar>?,
        _ body: (Context, Bytes?) -> whorl_status
    ) -> Int32 {
        let hasName = unsafe prompt != nil
        let name = unsafe Bytes(text: prompt)
        return unsafe with(context) { context in
            guard name != nil || !hasName else { return WHORL_INVALID_ARGUMENT }
            guard context.isBusy else { return WHORL_NO_REQUEST }
            return body(context, name)
        }
    }

    /// Starts a request about an item with a name.
    @unsafe static func named(
        _ context: UInt64,
        _ name: UnsafePointer<CChar>?,
        _ kind: RequestKind,
        _ method: StaticString,
        _ item: StaticString
    ) -> Int32 {
        let name = unsafe Bytes(text: name)
        return unsafe with(context) { context in
            guard let name else { return WHORL_INVALID_ARGUMENT }
            return context.begin(kind, Call.plain(method, Call.member("value", json: Call.item(item, name))))
        }
    }

    /// Starts to delete an item, which may prompt the owner.
    @unsafe static func deleting(
        _ context: UInt64,
        _ name: UnsafePointer<CChar>?,
        _ asking: UnsafePointer<whorl_asking>?,
        _ item: StaticString
    ) -> Int32 {
        let name = unsafe Bytes(text: name)
        let asking = unsafe Asking(asking)
        return unsafe with(context) { context in
            guard let name, let asking else { return WHORL_INVALID_ARGUMENT }
            var call = Call.member("id", json: Call.item(item, name))
            call.append(",")
            call.append(
                contentsOf: Call.member("request", json: asking.consent(of: context.application))
            )
            return context.begin(
                .change,
                Call.asking("Items.Delete", call, asking.abilities),
                asking.abilities
            )
        }
    }
}

/// Opens a context for the system's service.
@c @implementation
public func whorl_open(
    _ application: UnsafePointer<CChar>!,
    _ context: UnsafeMutablePointer<UInt64>!
) -> Int32 {
    unsafe open(Bytes("/run/whorl/io.whorl"), application, context)
}

/// Opens a context for a service at another path.
@c @implementation
public func whorl_open_at(
    _ path: UnsafePointer<CChar>!,
    _ application: UnsafePointer<CChar>!,
    _ context: UnsafeMutablePointer<UInt64>!
) -> Int32 {
    unsafe open(Bytes(text: path), application, context)
}

@unsafe private func open(
    _ path: Bytes?,
    _ application: UnsafePointer<CChar>?,
    _ context: UnsafeMutablePointer<UInt64>?
) -> Int32 {
    guard let context = unsafe context else { return WHORL_INVALID_ARGUMENT.rawValue }
    unsafe context.pointee = 0
    guard let path, path.first == UInt8(ascii: "/"), path.count < 108,
        let name = unsafe Bytes(text: application), !name.isEmpty
    else { return WHORL_INVALID_ARGUMENT.rawValue }
    guard let made = Context(path: path, application: name) else { return WHORL_SYSTEM.rawValue }
    let object = unsafe Unmanaged.passRetained(made)
    let number = unsafe table_add(object.toOpaque())
    guard number != 0 else {
        made.end()
        unsafe object.release()
        return WHORL_TOO_MANY.rawValue
    }
    unsafe context.pointee = number
    return WHORL_OK.rawValue
}

/// Closes a context.
@c @implementation
public func whorl_close(_ context: UInt64) -> Int32 {
    var object: UnsafeMutableRawPointer?
    let status = unsafe table_enter(context, &object)
    guard let object = unsafe object else { return status }
    table_remove(context)
    let taken = unsafe Unmanaged<Context>.fromOpaque(object).takeRetainedValue()
    taken.end(isChild: status == WHORL_FORKED.rawValue)
    return WHORL_OK.rawValue
}

/// Frees a context that still exists when the library is unloaded.
@c @implementation
public func library_drop(_ object: UnsafeMutableRawPointer!) {
    guard let object = unsafe object else { return }
    unsafe Unmanaged<Context>.fromOpaque(object).takeRetainedValue().end()
}

/// Returns the descriptor that is readable while there is something to dispatch.
@c @implementation
public func whorl_descriptor(_ context: UInt64) -> Int32 { unsafe Entry.number(context) { $0.watch } }

/// Returns the events to watch the descriptor for.
@c @implementation
public func whorl_events(_ context: UInt64) -> Int32 {
    unsafe Entry.number(context) { $0.isBusy ? POLLIN : 0 }
}

/// Processes received data, and returns the next event.
@c @implementation
public func whorl_dispatch(_ context: UInt64) -> Int32 {
    unsafe Entry.number(context) { context in
        context.dispatch().map { Int32($0.rawValue) } ?? WHORL_NO_REQUEST.rawValue
    }
}

/// Waits until the request has ended.
@c @implementation
public func whorl_wait(_ context: UInt64, _ milliseconds: Int32) -> Int32 {
    let begin = whorl_milliseconds()
    while true {
        let event = whorl_dispatch(context)
        if event < 0 { return event }
        if event == Int32(WHORL_EVENT_DONE.rawValue) { return whorl_result(context) }
        if event != Int32(WHORL_EVENT_NONE.rawValue) { continue }
        var rest: Int32 = -1
        if milliseconds >= 0 {
            let left = Int64(milliseconds) - (whorl_milliseconds() - begin)
            guard left > 0 else { return WHORL_TIMED_OUT.rawValue }
            rest = Int32(clamping: left)
        }
        let descriptor = whorl_descriptor(context)
        if descriptor < 0 { return descriptor }
        if library_wait(descriptor, rest) < 0 { return WHORL_SYSTEM.rawValue }
    }
}

/// Returns the result of the last request.
@c @implementation
public func whorl_result(_ context: UInt64) -> Int32 {
    unsafe Entry.with(context) { $0.isBusy ? WHORL_BUSY : $0.result }
}

/// Cancels the request.
@c @implementation
public func whorl_cancel(_ context: UInt64) -> Int32 { unsafe Entry.with(context) { $0.cancel() } }

// MARK: - Values

/// Returns a string of the last event or result.
@c @implementation
public func whorl_text(_ context: UInt64, _ which: Int32) -> UnsafePointer<CChar>! {
    var text = unsafe library_empty()
    _ = unsafe Entry.with(context) {
        unsafe text = $0.values.text(which)
        return WHORL_OK
    }
    return unsafe text
}

/// Returns a number of the last event or result.
@c @implementation
public func whorl_number(_ context: UInt64, _ which: Int32) -> Int64 {
    var number: Int64 = -1
    _ = unsafe Entry.with(context) {
        number = $0.values.number(which)
        return WHORL_OK
    }
    return number
}

/// Copies bytes of the last result.
@c @implementation
public func whorl_bytes(
    _ context: UInt64,
    _ which: Int32,
    _ buffer: UnsafeMutableRawPointer!,
    _ room: Int,
    _ count: UnsafeMutablePointer<Int>!
) -> Int32 {
    unsafe Entry.with(context) { context in
        guard let bytes = context.values.bytes(which) else { return WHORL_NOTHING }
        if let count = unsafe count { unsafe count.pointee = bytes.count }
        guard let buffer = unsafe buffer, bytes.count <= room else { return WHORL_TOO_SMALL }
        guard let start = unsafe bytes.start else { return WHORL_SYSTEM }
        unsafe buffer.copyMemory(from: start, byteCount: bytes.count)
        return WHORL_OK
    }
}

/// Moves the secret that was read to the caller.
@c @implementation
public func whorl_take_secret(
    _ context: UInt64,
    _ buffer: UnsafeMutableRawPointer!,
    _ room: Int,
    _ count: UnsafeMutablePointer<Int>!
) -> Int32 {
    unsafe Entry.with(context) { context in
        guard let count = unsafe count else { return WHORL_INVALID_ARGUMENT }
        return unsafe context.takeSecret(into: buffer, room: room, count: &count.pointee)
    }
}

/// Returns the number of rows of the last list.
@c @implementation
public func whorl_rows(_ context: UInt64) -> Int32 {
    unsafe Entry.number(context) { Int32(clamping: $0.rows.count) }
}

/// Returns a string of a row.
@c @implementation
public func whorl_row_text(_ context: UInt64, _ row: Int32, _ which: Int32) -> UnsafePointer<CChar>! {
    var text = unsafe library_empty()
    _ = unsafe Entry.with(context) {
        guard row >= 0, Int(row) < $0.rows.count else { return WHORL_NOTHING }
        unsafe text = $0.rows[Int(row)].text(which)
        return WHORL_OK
    }
    return unsafe text
}

/// Returns a number of a row.
@c @implementation
public func whorl_row_number(_ context: UInt64, _ row: Int32, _ which: Int32) -> Int64 {
    var number: Int64 = -1
    _ = unsafe Entry.with(context) {
        guard row >= 0, Int(row) < $0.rows.count else { return WHORL_NOTHING }
        number = $0.rows[Int(row)].number(which)
        return WHORL_OK
    }
    return number
}

// MARK: - Prompts

/// Submits a passcode.
@c @implementation
public func whorl_prompt_passcode(
    _ context: UInt64,
    _ prompt: UnsafePointer<CChar>!,
    _ passcode: UnsafeRawPointer!,
    _ count: Int
) -> Int32 {
    unsafe Entry.prompt(context, prompt) { context, prompt in
        guard unsafe passcode != nil, count > 0, count <= 1024 else { return WHORL_INVALID_ARGUMENT }
        return context.screen.submit(prompt) { unsafe library_secret_make(passcode, count) }
    }
}

/// Reports that the user is typing.
@c @implementation
public func whorl_prompt_typing(_ context: UInt64, _ prompt: UnsafePointer<CChar>!) -> Int32 {
    unsafe Entry.prompt(context, prompt) { $0.screen.typing($1) }
}

/// Reports that no passcode will be entered.
@c @implementation
public func whorl_prompt_close(_ context: UInt64, _ prompt: UnsafePointer<CChar>!) -> Int32 {
    unsafe Entry.prompt(context, prompt) { $0.screen.close($1) }
}

/// Reports that a button was pressed.
@c @implementation
public func whorl_prompt_end(_ context: UInt64, _ prompt: UnsafePointer<CChar>!, _ action: Int32) -> Int32 {
    unsafe Entry.prompt(context, prompt) { context, prompt in
        if action == Int32(WHORL_ACTION_CANCEL.rawValue) { return context.screen.press(prompt, "cancel") }
        if action == Int32(WHORL_ACTION_FALLBACK.rawValue) { return context.screen.press(prompt, "fallback") }
        return WHORL_INVALID_ARGUMENT
    }
}
