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
        let work = Task { () async throws(FingerChangeError) in
            try await SessionPrompts.enroll(
                NewFinger(finger, isGuided: true),
                for: ApplicationID(rawValue: "io.whorl.prompt"),
                presenter: WindowPresenter(),
                observer: { progress in onMainThread { show(progress, of: finger) } }
            )
        }
        onMainThread { cancel = { work.cancel() } }
        let outcome = await work.result
        onMainThread { tell(outcome) }
    }

    /// Ends the enrollment; the window's button, Escape and closing call it.
    @MainActor private static var cancel: () -> Void = {}

    @MainActor
    private static func show(_ progress: EnrollmentProgress, of finger: Finger) {
        if case .began(let reader) = progress {
            PromptWindow.open(PromptContent(enrolling: finger, on: reader), nil) { _ in cancel() }
        } else {
            PromptWindow.shown?.apply(progress)
        }
    }

    /// Shows the end until the person has closed the window, or for ten seconds.
    @MainActor
    private static func tell(_ outcome: Result<EnrolledFinger, any Error>) {
        let status: Int32
        switch outcome {
        case .success:
            status = 0
            PromptWindow.shown?.end(translated("Enrolled."))
        case .failure(let error):
            status = 1
            let sentence = (error as? FingerChangeError)?.sentence ?? "\(error)"
            Program.write(sentence)
            PromptWindow.shown?.end(translated(sentence))
        }
        cancel = { exit(status) }
        guard PromptWindow.shown != nil else { exit(status) }
        onMainThread(after: result) { exit(status) }
    }
}

extension FingerChangeError {
    fileprivate var sentence: String {
        switch self {
        case .owner(let error): error.message
        case .fingers(let error): error.message
        }
    }
}
