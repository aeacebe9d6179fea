// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlFingerprint
import WhorlRemote
import WhorlService
import WhorlSupport

/// Enrolls a finger in a window: the reader asks for one part of the finger after the other, and test touches show the result.
enum EnrollmentWindow {
    /// The time for which the result stays, in milliseconds, unless the person closes the window.
    private static let result: UInt32 = 10_000

    /// Enrolls the finger, and ends the process: with 0 where it was enrolled, with 1 where it was not.
    ///
    /// An agent of the session shows the prompt for the owner's consent; without one this program does.
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

    /// Ends the enrollment; the window's button, Escape and closing call it.
    @MainActor private static var cancel: () -> Void = {}

    @MainActor
    private static func show(_ progress: EnrollmentProgress, of finger: Finger) {
        switch progress {
        case .began(let reader): open(PromptContent(enrolling: finger, reader.kind, reader.scanType))
        // The finger is stored: who leaves now leaves the test touches out.
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

    /// Shows the end until the person has closed the window, or for ten seconds.
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
            // Nothing has to be told to who has left.
            if failure?.code == .userCancel { exit(status) }
            if PromptWindow.shown == nil { open(PromptContent(enrolling: finger, .hardware, .press)) }
            PromptWindow.shown?.end(sentences.map { translated($0) }.joined(separator: " "))
        }
        cancel = { exit(status) }
        onMainThread(after: result) { exit(status) }
    }
}
