// SPDX-License-Identifier: Apache-2.0

internal import CWhorl

/// The prompts of a request that this program shows, and the user's actions in them.
struct Screen {
    /// The abilities of the program's own prompt.
    struct Abilities {
        var isInteractive = false
        var takesPasscode = false

        /// The abilities as JSON.
        var json: Bytes {
            var json = Bytes(#"{"isInteractive":"#)
            json.append(isInteractive ? "true" : "false")
            json.append(#","takesPasscode":"#)
            json.append(takesPasscode ? "true" : "false")
            json.append("}")
            return json
        }
    }

    /// The service's reply to an action.
    enum Word { case nothing, notTaken }

    private var abilities = Abilities()
    /// The prompts that are shown, with the newest one last.
    private var prompts: [Bytes] = []
    /// The connection for replying to prompts.
    ///
    /// It is opened for the first reply.
    private var link: Link?
    /// For each call without a reply, whether it submitted a passcode.
    private var calls: [Bool] = []
    private var lastTyping: Int64 = 0
    /// The service's location, while a prompt is shown.
    private var place: (path: Bytes, watch: Int32)?

    mutating func begin(_ abilities: Abilities) {
        self = Screen()
        self.abilities = abilities
    }

    /// Closes the connection and removes the prompts.
    mutating func end(isChild: Bool = false) {
        link?.end(isChild: isChild)
        self = Screen()
    }

    var hasMore: Bool { link?.hasMore ?? false }

    /// Processes an update of a request, and returns the event for the program.
    mutating func take(
        _ parameters: JSONValue?,
        path: Bytes,
        watch: Int32
    ) -> (event: whorl_event, values: Values)? {
        place = (path, watch)
        var values = Values()
        if let prompt = parameters?["prompt"] {
            guard let id = prompt["id"]?.text, prompts.count < 64 else { return nil }
            prompts.append(id)
            Self.read(prompt["prompt"], id, &values)
            return (WHORL_EVENT_PROMPT, values)
        }
        if let change = parameters?["change"] {
            values.take(WHORL_TEXT_PROMPT, "prompt", of: change)
            Update.read(change["update"], &values)
            return (WHORL_EVENT_UPDATE, values)
        }
        if let update = parameters?["update"] {
            values.set(WHORL_TEXT_PROMPT, prompts.last)
            Update.read(update, &values)
            return (WHORL_EVENT_UPDATE, values)
        }
        if let id = parameters?["end"]?.text {
            // A prompt that a button ended was already confirmed.
            if let index = prompts.firstIndex(of: id) {
                prompts.remove(at: index)
                _ = confirm(id, action: nil)
            }
            values.set(WHORL_TEXT_PROMPT, id)
            return (WHORL_EVENT_PROMPT_END, values)
        }
        if let progress = parameters?["progress"] {
            Update.read(progress: progress, &values)
            return (WHORL_EVENT_PROGRESS, values)
        }
        if parameters?["elsewhere"]?.flag == true { return (WHORL_EVENT_ELSEWHERE, values) }
        if parameters?["isRegistered"]?.flag == true { return (WHORL_EVENT_REGISTERED, values) }
        return nil
    }

    private static func read(_ prompt: JSONValue?, _ id: Bytes, _ values: inout Values) {
        values.set(WHORL_TEXT_PROMPT, id)
        values.take(WHORL_TEXT_TITLE, shown: "title", of: prompt)
        values.take(WHORL_TEXT_REASON, shown: "reason", of: prompt)
        values.take(WHORL_TEXT_PURPOSE, "kind", of: prompt?["purpose"])
        values.take(WHORL_TEXT_PURPOSE_NAME, shown: "name", of: prompt?["purpose"])
        values.take(WHORL_NUMBER_UNUSED_SECONDS, "unusedSeconds", of: prompt?["limits"])
        values.take(WHORL_NUMBER_WHOLE_SECONDS, "wholeSeconds", of: prompt?["limits"])
        values.take(WHORL_TEXT_CANCEL_TITLE, shown: "cancelTitle", of: prompt)
        values.take(WHORL_TEXT_FALLBACK_TITLE, shown: "fallbackTitle", of: prompt)
        values.take(WHORL_TEXT_READER_KIND, "readerKind", of: prompt)
        values.take(WHORL_TEXT_SCAN_TYPE, "scanType", of: prompt)
        let asker = prompt?["asker"]
        values.take(WHORL_TEXT_ASKER, shown: "confinedAs", of: asker)
        values.take(WHORL_TEXT_ASKER_PROCESS, shown: "process", of: asker)
        values.take(WHORL_NUMBER_ASKER_PROCESS, "processID", of: asker)
        var parts: Int64 = 0
        for part in prompt?["parts"]?.list ?? [] {
            if part.text?.isText("finger") == true { parts |= 1 }
            if part.text?.isText("passcode") == true { parts |= 2 }
        }
        values.set(WHORL_NUMBER_PARTS, parts)
    }

    // MARK: - User actions

    /// The id of a prompt that is shown; `nil` means the newest one.
    private func shown(_ id: Bytes?) -> Bytes? {
        guard let id else { return prompts.last }
        return prompts.contains(id) ? id : nil
    }

    /// Submits a passcode.
    mutating func submit(_ id: Bytes?, _ file: () -> Int32) -> whorl_status {
        guard let prompt = shown(id) else { return WHORL_NO_REQUEST }
        let number = file()
        guard number >= 0 else { return WHORL_SYSTEM }
        return call("Submit", prompt, file: number) { $0.append(#","passcode":0"#) }
    }

    /// Reports that the user is typing, at most four times a second.
    mutating func typing(_ id: Bytes?) -> whorl_status {
        guard let prompt = shown(id) else { return WHORL_NO_REQUEST }
        let now = whorl_milliseconds()
        guard now - lastTyping >= 250 else { return WHORL_OK }
        lastTyping = now
        return call("Typing", prompt)
    }

    /// Reports that no passcode will be entered.
    mutating func close(_ id: Bytes?) -> whorl_status {
        guard let prompt = shown(id) else { return WHORL_NO_REQUEST }
        return call("Close", prompt)
    }

    /// Reports that a button was pressed, which ends the prompt.
    mutating func press(_ id: Bytes?, _ action: StaticString) -> whorl_status {
        guard let prompt = shown(id), let index = prompts.firstIndex(of: prompt) else {
            return WHORL_NO_REQUEST
        }
        prompts.remove(at: index)
        return confirm(prompt, action: action)
    }

    private mutating func confirm(_ prompt: Bytes, action: StaticString?) -> whorl_status {
        let presenter = abilities.json
        return call("Ended", prompt) {
            $0.append(#","presenter":"#)
            $0.append(contentsOf: presenter)
            guard let action else { return }
            $0.append(#","action":""#)
            $0.append(action)
            $0.append("\"")
        }
    }

    private mutating func call(
        _ method: StaticString,
        _ prompt: Bytes,
        file: Int32 = -1,
        _ more: (inout Bytes) -> Void = { _ in }
    ) -> whorl_status {
        if link == nil, let place { link = Link(path: place.path, watch: place.watch) }
        guard let link else {
            if file >= 0 { library_secret_drop(file) }
            return WHORL_NO_SERVICE
        }
        var call = Bytes(#"{"method":"io.whorl.Prompt."#)
        call.append(method)
        call.append(#"","parameters":{"prompt":"#)
        call.append(text: prompt)
        more(&call)
        call.append("}}")
        guard link.send(call, file: file) else { return WHORL_NO_ANSWER }
        calls.append(file >= 0)
        return WHORL_OK
    }

    /// Processes the replies to the calls.
    mutating func serve() -> Word {
        while let link {
            switch link.receive() {
            case .nothing: return .nothing
            case .message(let reply):
                guard !calls.isEmpty else { continue }
                let isPasscode = calls.removeFirst()
                if isPasscode, reply["parameters"]?["value"]?.flag != true { return .notTaken }
            case .end, .nonsense:
                // The service still enforces the prompt's time limit, and the request ends on its own connection.
                link.end()
                self.link = nil
                let isLost = calls.contains(true)
                calls = []
                return isLost ? .notTaken : .nothing
            }
        }
        return .nothing
    }
}

/// The changes of a prompt or of an enrollment.
enum Update {
    private static func kind(_ event: Bytes?) -> whorl_update {
        guard let event else { return WHORL_UPDATE_OTHER }
        if event.isText("touch") { return WHORL_UPDATE_TOUCH }
        if event.isText("finger") { return WHORL_UPDATE_FINGER }
        if event.isText("retry") { return WHORL_UPDATE_RETRY }
        if event.isText("stage") { return WHORL_UPDATE_STAGE }
        if event.isText("noMatch") { return WHORL_UPDATE_NO_MATCH }
        if event.isText("anotherFinger") { return WHORL_UPDATE_ANOTHER_FINGER }
        if event.isText("fingerEnded") { return WHORL_UPDATE_FINGER_ENDED }
        if event.isText("checking") { return WHORL_UPDATE_CHECKING }
        if event.isText("wrongPasscode") { return WHORL_UPDATE_WRONG_PASSCODE }
        if event.isText("throttled") { return WHORL_UPDATE_THROTTLED }
        if event.isText("passcodeEnded") { return WHORL_UPDATE_PASSCODE_ENDED }
        if event.isText("matched") { return WHORL_UPDATE_MATCHED }
        if event.isText("verified") { return WHORL_UPDATE_VERIFIED }
        if event.isText("ended") { return WHORL_UPDATE_ENDED }
        return WHORL_UPDATE_OTHER
    }

    /// Parses a change of a prompt.
    static func read(_ update: JSONValue?, _ values: inout Values) {
        let kind = kind(update?["event"]?.text)
        values.set(WHORL_NUMBER_UPDATE, Int64(kind.rawValue))
        values.take(WHORL_NUMBER_COMPLETED, "completed", of: update)
        values.take(WHORL_NUMBER_TOTAL, "total", of: update)
        values.take(WHORL_NUMBER_TRIES_LEFT, "remaining", of: update)
        values.take(WHORL_NUMBER_TRIES_LEFT, "triesLeft", of: update)
        values.take(WHORL_NUMBER_MILLISECONDS, "milliseconds", of: update)
        values.take(WHORL_NUMBER_IS_PRESENT, "present", of: update)
        values.take(WHORL_TEXT_FINGER, "finger", of: update)
        values.take(WHORL_TEXT_RETRY, "reason", of: update)
        values.take(WHORL_TEXT_MESSAGE, shown: "message", of: update)
    }

    /// Parses the progress of an enrollment.
    static func read(progress: JSONValue, _ values: inout Values) {
        if let began = progress["began"] {
            values.set(WHORL_NUMBER_UPDATE, Int64(WHORL_UPDATE_BEGAN.rawValue))
            let reader = began["reader"]
            values.take(WHORL_NUMBER_TOTAL, "enrollStages", of: reader)
            values.take(WHORL_TEXT_SCAN_TYPE, "scanType", of: reader)
            values.take(WHORL_TEXT_READER_KIND, "kind", of: reader)
        } else if let confirming = progress["confirming"] {
            values.set(WHORL_NUMBER_UPDATE, Int64(WHORL_UPDATE_CONFIRMING.rawValue))
            values.take(WHORL_NUMBER_TRIES_LEFT, "triesLeft", of: confirming)
        } else {
            read(progress["scan"]?["event"], &values)
        }
    }
}
