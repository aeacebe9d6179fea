// SPDX-License-Identifier: Apache-2.0

internal import WhorlFingerprint
internal import MockReader
internal import WhorlSecretMemory
internal import Synchronization
import WhorlService

/// The simulated user of a test device, who performs a test's actions at prompts.
final class Person: Sendable {
    private struct State {
        var actions: ArraySlice<TestDevice.Action> = []
        var otherwise = TestDevice.Action.cancel
        var prompts: [TestPromptRecord] = []
        var reader: MockReader?
    }

    private let state = Mutex(State())

    var reader: MockReader? {
        get { state.withLock(\.reader) }
        set { state.withLock { $0.reader = newValue } }
    }

    var otherwise: TestDevice.Action {
        get { state.withLock(\.otherwise) }
        set { state.withLock { $0.otherwise = newValue } }
    }

    var remaining: [TestDevice.Action] { state.withLock { Array($0.actions) } }
    var prompts: [TestPromptRecord] { state.withLock(\.prompts) }

    func append(_ actions: [TestDevice.Action]) { state.withLock { $0.actions += actions } }

    func drop() { state.withLock { $0.actions = [] } }

    func see(_ prompt: Prompt) {
        let record = TestPromptRecord(
            reason: prompt.reason,
            cancelTitle: prompt.cancelTitle,
            fallbackTitle: prompt.fallbackTitle,
            asksForFinger: prompt.parts.contains(.finger),
            asksForPasscode: prompt.parts.contains(.passcode)
        )
        state.withLock { $0.prompts.append(record) }
    }

    /// Performs the next action that the prompt offers.
    ///
    /// - Returns: The button that was pressed, which ends the prompt, or `nil` if the prompt continues.
    func act(on offer: Offer) -> PromptAction? {
        while let action = state.withLock({ $0.actions.popFirst() }) {
            switch perform(action, offer) {
            case .done: return nil
            case .pressed(let button): return button
            case .notOffered: continue
            }
        }
        switch perform(otherwise, offer) {
        case .done: return nil
        case .pressed(let button): return button
        // A prompt that offers none of the remaining actions is canceled.
        case .notOffered: return .cancel
        }
    }

    /// The input that a prompt currently accepts.
    struct Offer {
        var takesFinger: Bool
        var passcode: PromptEntry?
        var hasFallback: Bool
    }

    private enum Deed {
        case done
        case pressed(PromptAction)
        case notOffered
    }

    private func perform(_ action: TestDevice.Action, _ offer: Offer) -> Deed {
        switch action {
        case .match: touch(.touch(.expected), offer)
        case .noMatch: touch(.touch(.unknown), offer)
        case .finger(let finger): touch(.touch(.finger(finger)), offer)
        case .unreadable(let reason): touch(.retry(reason), offer)
        case .unplug: unplug()
        case .passcode(let text): type(text, offer)
        case .cancel: .pressed(.cancel)
        case .fallback:
            // If the prompt also accepts the passcode, the button shows the passcode field and does not end the prompt.
            offer.hasFallback && offer.passcode == nil ? .pressed(.fallback) : .notOffered
        case .nothing: .done
        }
    }

    private func touch(_ step: MockStep, _ offer: Offer) -> Deed {
        guard offer.takesFinger else { return .notOffered }
        reader?.play(step)
        return .done
    }

    private func unplug() -> Deed {
        reader?.unplug()
        return .done
    }

    private func type(_ text: String, _ offer: Offer) -> Deed {
        let bytes = Array(text.utf8)
        let secret = SecretBytes(count: bytes.count) { $0.copyBytes(from: bytes) }
        return offer.passcode?.submit(secret) == true ? .done : .notOffered
    }
}

/// A presenter that lets the simulated user act at a prompt.
struct TestPrompt: PromptPresenter {
    let person: Person

    var isInteractive: Bool {
        get async { true }
    }

    var takesPasscode: Bool {
        get async { true }
    }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        person.see(prompt)
        var offer = Person.Offer(
            takesFinger: prompt.parts.contains(.finger),
            passcode: prompt.parts.contains(.passcode) ? entry : nil,
            hasFallback: prompt.fallbackTitle != nil
        )
        if !offer.takesFinger, let button = person.act(on: offer) { return button }
        for await update in entry.updates {
            var isAsking = false
            switch update {
            case .scan(.touch), .wrongPasscode, .throttled: isAsking = true
            case .fingerEnded:
                // A prompt for only the passcode also sends this; the user has already acted on it.
                isAsking = offer.takesFinger
                offer.takesFinger = false
            case .passcodeEnded: offer.passcode = nil
            case .scan, .noMatch, .anotherFinger, .checking, .matched, .verified, .ended: break
            }
            if isAsking, let button = person.act(on: offer) { return button }
        }
        return nil
    }
}
