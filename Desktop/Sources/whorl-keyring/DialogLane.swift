// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeyringQuestion
import WhorlSupport

/// The prompts for which a dialog is shown, one at a time.
@MainActor
final class DialogLane {
    private let prompter: Prompter
    private let bus: Bus
    private var shown: (dialog: KeyringDialog, prompt: WaitingPrompt)?
    /// The number of windows so far.
    private var number = 0

    init(_ prompter: Prompter, _ bus: Bus) {
        self.prompter = prompter
        self.bus = bus
    }

    /// Shows the next dialog, unless one is open.
    ///
    /// The keyring's daemon goes before other programs.
    func advance() {
        while shown == nil, !prompter.screen.hidesPrompts {
            let prompts = prompter.waiting(in: .dialog)
            guard let prompt = prompts.first(where: \.isOfDaemon) ?? prompts.first else { return }
            if let keyring = keyring(of: prompt), prompter.pauses.contains(keyring) {
                prompter.refuse(prompt)
            } else {
                show(prompt)
            }
        }
    }

    /// Closes the window of a prompt that has ended.
    func hasLeft(_ prompt: WaitingPrompt) {
        guard let shown, shown.prompt === prompt else { return }
        shown.dialog.close()
        self.shown = nil
    }

    /// Closes the window; its prompt keeps waiting.
    func interrupt() {
        shown?.dialog.close()
        shown = nil
    }

    private func show(_ prompt: WaitingPrompt) {
        var question = prompt.question
        question.asker = asker(of: prompt)
        number += 1
        let number = number
        let dialog = KeyringDialog.show(question) { [weak self] answer in
            // A window that was closed has nothing to say about the next one, even of the same prompt.
            guard let self, let prompt = shown?.prompt, self.number == number else { return }
            shown = nil
            end(prompt, answer)
            prompter.advance()
        }
        guard let dialog else { return prompter.refuse(prompt) }
        shown = (dialog, prompt)
    }

    private func end(_ prompt: WaitingPrompt, _ answer: KeyringDialog.Answer?) {
        guard let answer, answer.isYes else {
            if answer != nil, let keyring = keyring(of: prompt) { prompter.pauses.begin(for: keyring) }
            return prompter.refuse(prompt)
        }
        var changes: [String: BusContent] = ["choice-chosen": .flag(answer.isChosen)]
        // gnome-keyring asks again about a new password whose strength is 0, which stands for an empty one.
        let isEmpty = answer.password?.bytes.count == 0
        if prompt.kind == .newPassword { changes["password-strength"] = .signed(isEmpty ? 0 : 1) }
        prompter.answer(prompt, "yes", changes, exchange: prompt.exchange.send(answer.password))
    }

    /// The name among the pauses of the keyring that a prompt is for; `nil` for other questions, which the user asks for.
    private func keyring(of prompt: WaitingPrompt) -> String? {
        guard prompt.isOfDaemon, prompt.kind == .password else { return nil }
        return prompt.wasOffered || !prompt.note.isEmpty ? TouchLane.keyring : "other " + prompt.texts.subject
    }

    /// The sentence about the program that asks.
    private func asker(of prompt: WaitingPrompt) -> String {
        guard !prompt.isOfDaemon else {
            return translated("The keyring does not report which program is asking.")
        }
        return translated("Requested by: %1$@", with: processName(of: prompt.id.caller) ?? "?")
    }

    /// The name of a program's process, which the program can choose.
    private func processName(of caller: String) -> String? {
        // Without a process, such as after the program has left, there is no name.
        let process = try? bus.ask("GetConnectionUnixProcessID", [.text(caller)])[0]?.number
        guard let process, let file = fopen("/proc/\(process)/comm", "re") else { return nil }
        defer { fclose(file) }
        var room = [CChar](repeating: 0, count: 64)
        guard fgets(&room, Int32(room.count), file) != nil else { return nil }
        let bytes = room.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return DisplayText.clean(String(decoding: bytes, as: UTF8.self), limit: 40)
    }
}
