// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlService

extension JSONValue {
    /// Returns the JSON event that programs receive for an event from a reader.
    static func event(_ event: ScanEvent) -> JSONValue {
        switch event {
        case .touch: ["event": "touch"]
        case .finger(let present): ["event": "finger", "present": .bool(present)]
        case .retry(let reason): ["event": "retry", "reason": .string(reason.rawValue)]
        case .alike: ["event": "alike"]
        case .stage(let completed, let total):
            ["event": "stage", "completed": .integer(completed), "total": .integer(total)]
        }
    }
}

/// The prompt for `--json`: events for the calling program, which shows its own prompt to the user.
///
/// It counts as interactive, because a program that requests events shows the prompt itself.
struct EventPresenter: PromptPresenter {
    let console: Console

    var isInteractive: Bool { get async { true } }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        console.used(prompt.readerKind)
        for await update in entry.updates {
            switch update {
            case .scan(let event): console.event(.event(event))
            case .noMatch(let remaining):
                console.event(["event": "noMatch", "remaining": .integer(remaining)])
            case .anotherFinger: console.event(["event": "anotherFinger"])
            // The result or the error line reports the rest, and only that counts.
            default: break
            }
        }
        return nil
    }
}

/// A presenter that also reports the kind of reader to the console.
struct ReportingPresenter: PromptPresenter {
    let console: Console
    let presenter: any PromptPresenter

    var isInteractive: Bool { get async { await presenter.isInteractive } }
    var takesPasscode: Bool { get async { await presenter.takesPasscode } }
    var handsPasscodeIn: Bool { get async { await presenter.handsPasscodeIn } }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        if prompt.parts.contains(.finger) { console.used(prompt.readerKind) }
        return await presenter.show(prompt, entry)
    }
}
