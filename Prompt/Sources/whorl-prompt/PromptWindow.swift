// SPDX-License-Identifier: Apache-2.0

import CGTK
import WhorlSecretMemory
import WhorlService

/// The window of the prompt that is shown, on GTK's thread.
///
/// There is one at a time, so GTK's callbacks find it in ``shown``.
@MainActor
final class PromptWindow {
    /// A button or key that ends the prompt.
    enum Press: Sendable {
        case cancel
        case fallback
        /// The person wants no further prompt of this program.
        case refuse
    }

    private(set) static var shown: PromptWindow?
    /// The time for which the last message stays, in milliseconds.
    private static let lastMessage: UInt32 = 800

    /// The way for passcodes; `nil` for a window that takes none.
    private let entry: PromptEntry?
    private let press: (Press) -> Void
    private var content: PromptContent
    private let widgets: PromptWidgets

    /// Opens the window of a prompt; that of the one before goes.
    static func open(_ content: PromptContent, _ entry: PromptEntry?, _ press: @escaping (Press) -> Void) {
        shown?.destroy()
        let window = PromptWindow(content, entry, press)
        shown = window
        window.draw()
        window.widgets.present(focusesPasscode: content.showsPasscode)
    }

    /// Closes the window, at once or when its last message could be read.
    static func close(afterMessage: Bool) {
        guard let window = shown else { return }
        guard afterMessage, window.content.isOver else { return window.destroy() }
        onMainThread(after: lastMessage) { if shown === window { window.destroy() } }
    }

    private init(_ content: PromptContent, _ entry: PromptEntry?, _ press: @escaping (Press) -> Void) {
        self.content = content
        self.entry = entry
        self.press = press
        widgets = PromptWidgets()
    }

    private func destroy() {
        widgets.destroy()
        PromptWindow.shown = nil
    }

    /// Shows an update of the service.
    func apply(_ update: PromptUpdate) {
        guard content.prompt.parts.contains(.passcode) || !update.isAboutPasscode else { return }
        let tookPasscode = content.showsPasscode && content.takesPasscode
        content.apply(update)
        draw()
        // A field that takes no keys for a while, as during a comparison, loses the focus.
        if content.showsPasscode, content.takesPasscode, !tookPasscode { widgets.focusPasscode() }
    }

    /// Shows how an enrollment goes on.
    func apply(_ progress: EnrollmentProgress) {
        content.apply(progress)
        draw()
    }

    /// Shows how an enrollment ended.
    func end(_ message: String) {
        content.endEnrollment(message)
        draw()
    }

    /// The part of the fingerprint that is filled.
    var filled: Double { content.filled }

    func cancel() { press(.cancel) }
    func refuse() { press(.refuse) }
    func typed() { entry?.typing() }

    /// The fallback is the passcode in the same prompt where the prompt takes one.
    func fallback() {
        guard content.prompt.parts.contains(.passcode) else { return press(.fallback) }
        content.openPasscode()
        draw()
        widgets.focusPasscode()
    }

    /// Hands the typed passcode in, and clears the field.
    func submit() {
        guard content.showsPasscode, content.takesPasscode, let passcode = widgets.takePasscode() else {
            return
        }
        entry?.submit(passcode)
    }

    private func draw() { widgets.show(content) }
}

extension PromptUpdate {
    fileprivate var isAboutPasscode: Bool {
        switch self {
        case .checking, .wrongPasscode, .throttled, .passcodeEnded: true
        case .scan, .noMatch, .anotherFinger, .fingerEnded, .matched, .verified, .ended: false
        }
    }
}
