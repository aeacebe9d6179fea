// SPDX-License-Identifier: Apache-2.0

import CGTK
import MainThread
import WhorlSecretMemory
import WhorlService

/// The window of the current prompt, on GTK's thread.
///
/// There is only one at a time. GTK's callbacks find it in ``shown``.
@MainActor
final class PromptWindow {
    /// A button or key that ends the prompt.
    enum Press: Sendable {
        case cancel
        case fallback
        /// The user wants no further prompts from this program.
        case refuse
    }

    private(set) static var shown: PromptWindow?
    /// The window in front of which prompts are shown; `nil` in a program without other windows.
    static var parent: Widget?
    /// The time in milliseconds for which the last message is shown.
    private static let lastMessage: UInt32 = 800

    /// The receiver of typed passcodes; `nil` for a window that does not accept any.
    private let entry: PromptEntry?
    private let press: (Press) -> Void
    private var content: PromptContent
    private let widgets: PromptWidgets

    /// Opens the window of a prompt and closes the previous one.
    static func open(_ content: PromptContent, _ entry: PromptEntry?, _ press: @escaping (Press) -> Void) {
        shown?.destroy()
        let window = PromptWindow(content, entry, press)
        shown = window
        window.draw()
        window.widgets.present(over: parent, focusesPasscode: content.showsPasscode)
    }

    /// Closes this window, unless another one has taken its place.
    func close() { if PromptWindow.shown === self { destroy() } }

    /// Closes the window, immediately or after the last message could be read.
    static func close(afterMessage: Bool) {
        guard let window = shown else { return }
        guard afterMessage, window.content.isOver else { return window.destroy() }
        onMainThread(after: lastMessage) { window.close() }
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

    /// Shows an update from the service.
    func apply(_ update: PromptUpdate) {
        guard content.prompt.parts.contains(.passcode) || !update.isAboutPasscode else { return }
        let tookPasscode = content.showsPasscode && content.takesPasscode
        content.apply(update)
        draw()
        if case .noMatch = update { widgets.shake() }
        // A field that is temporarily disabled, such as during a comparison, loses the focus.
        if content.showsPasscode, content.takesPasscode, !tookPasscode { widgets.focusPasscode() }
    }

    /// Shows the progress of an enrollment.
    func apply(_ progress: EnrollmentProgress) {
        content.apply(progress)
        draw()
    }

    /// Shows the result of an enrollment.
    func end(_ message: String, isEnrolled: Bool) {
        content.endEnrollment(message, isEnrolled: isEnrolled)
        draw()
    }

    /// The content of the drawing.
    var picture: PromptPicture { content.picture }

    func cancel() { press(.cancel) }
    func refuse() { press(.refuse) }
    func typed() { entry?.typing() }

    /// Shows the passcode field if the prompt accepts a passcode; otherwise ends the prompt with the fallback.
    func fallback() {
        guard content.prompt.parts.contains(.passcode) else { return press(.fallback) }
        content.openPasscode()
        draw()
        widgets.focusPasscode()
    }

    /// Submits the typed passcode and clears the field.
    func submit() {
        guard content.showsPasscode, content.takesPasscode, let passcode = widgets.takePasscode() else {
            return
        }
        entry?.submit(passcode)
    }

    private func draw() { widgets.show(content) }
}

/// Shows prompts in front of a window from now on.
@MainActor
package func showPrompts(over window: Widget) { PromptWindow.parent = window }

extension PromptUpdate {
    fileprivate var isAboutPasscode: Bool {
        switch self {
        case .checking, .wrongPasscode, .throttled, .passcodeEnded: true
        case .scan, .noMatch, .anotherFinger, .fingerEnded, .matched, .verified, .ended: false
        }
    }
}
