// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlFingerprint
import WhorlRemote
import WhorlService
import WhorlSupport

/// Enrolls a finger in a window.
///
/// The reader captures the finger part by part, and test touches show the result.
enum EnrollmentWindow {
    /// The time in milliseconds for which the result is shown, unless the user closes the window.
    private static let result: UInt32 = 10_000

    /// Enrolls the finger and ends the process, with status 0 if it was enrolled and 1 if not.
    ///
    /// An agent of the session shows the prompt for the owner's consent. If there is no agent, this program shows it.
    static func enroll(_ finger: Finger) async {
        let work = Task {
            try await SessionPrompts.enroll(
                NewFinger(finger, isGuided: true),
                for: ApplicationID(rawValue: "io.whorl.prompt"),
                presenter: WindowPresenter(),
                observer: { progress in onMainThread { show(progress, of: finger) } }
            )
        }
        onMainThread { cancel = { work.cancel() } }
        let outcome = await work.result
        onMainThread { tell(outcome, of: finger) }
    }

    /// Ends the enrollment.
    ///
    /// Called by the window's button, by Escape, and when the window is closed.
    @MainActor private static var cancel: () -> Void = {}

    @MainActor
    private static func show(_ progress: EnrollmentProgress, of finger: Finger) {
        switch progress {
        case .began(let reader): open(PromptContent(enrolling: finger, reader.kind, reader.scanType))
        // The finger is stored. Closing the window now only skips the test touches.
        case .tested:
            cancel = { exit(0) }
            PromptWindow.shown?.apply(progress)
        case .scan, .confirming, .area, .again, .exercising: PromptWindow.shown?.apply(progress)
        }
    }

    @MainActor
    private static func open(_ content: PromptContent) {
        PromptWindow.open(content, nil) { _ in cancel() }
    }

    /// Shows the result until the user closes the window, or for ten seconds.
    @MainActor
    private static func tell(_ outcome: Result<EnrolledFinger, any Error>, of finger: Finger) {
        let status: Int32
        switch outcome {
        case .success:
            status = 0
            PromptWindow.shown?.end(translated("Enrolled."))
        case .failure(let error):
            status = 1
            let failure = error as? ServiceError
            let sentences = failure.map { [$0.message, $0.recovery] } ?? ["\(error)"]
            Program.write(sentences.joined(separator: " "))
            // A user who canceled needs no message.
            if failure?.code == .userCancel { exit(status) }
            if PromptWindow.shown == nil { open(PromptContent(enrolling: finger, .hardware, .press)) }
            PromptWindow.shown?.end(sentences.map { translated($0) }.joined(separator: " "))
        }
        cancel = { exit(status) }
        onMainThread(after: result) { exit(status) }
    }
}
