// SPDX-License-Identifier: Apache-2.0

import MainThread
import WhorlFingerprint
import WhorlRemote
package import WhorlService
import WhorlSupport

/// Enrolls a finger in a window.
///
/// The reader captures the finger part by part, and test touches show the result.
@MainActor
package final class EnrollmentWindow {
    /// The time in milliseconds for which the result is shown, unless the user closes the window.
    private static let result: UInt32 = 10_000

    private let finger: Finger
    private let onResult: (Result<EnrolledFinger, ServiceError>) -> Void
    private let onEnd: (_ isEnrolled: Bool) -> Void
    /// Ends the enrollment, or closes the window after the result.
    ///
    /// Called by the window's button, by Escape, and when the window is closed.
    private var cancel: () -> Void = {}
    /// The window, once the reader has started.
    private weak var window: PromptWindow?
    /// Whether the finger is stored.
    ///
    /// Closing the window then only skips the test touches.
    private var isStored = false
    private var hasEnded = false

    /// Enrolls a finger, with its window in front of another one, if there is one.
    ///
    /// An agent of the session shows the prompt for the owner's consent. If there is no agent, this program shows it.
    ///
    /// - Parameters:
    ///   - finger: The finger.
    ///   - application: The calling program.
    ///   - onResult: Called once, when the enrollment has ended. The window then shows the result.
    ///   - onEnd: Called once, when the window has been closed.
    package static func enroll(
        _ finger: NewFinger,
        for application: ApplicationID,
        onResult: @escaping (Result<EnrolledFinger, ServiceError>) -> Void,
        onEnd: @escaping (_ isEnrolled: Bool) -> Void
    ) {
        EnrollmentWindow(finger.finger, onResult, onEnd).begin(finger, application)
    }

    private init(
        _ finger: Finger,
        _ onResult: @escaping (Result<EnrolledFinger, ServiceError>) -> Void,
        _ onEnd: @escaping (_ isEnrolled: Bool) -> Void
    ) {
        self.finger = finger
        self.onResult = onResult
        self.onEnd = onEnd
    }

    private func begin(_ finger: NewFinger, _ application: ApplicationID) {
        let work = Task.detached {
            let outcome: Result<EnrolledFinger, ServiceError>
            do throws(ServiceError) {
                outcome = .success(
                    try await SessionPrompts.enroll(
                        finger,
                        for: application,
                        presenter: WindowPresenter(isForOthers: false),
                        observer: { progress in onMainThread { self.show(progress) } }
                    )
                )
            } catch {
                outcome = .failure(error)
            }
            onMainThread { self.tell(outcome) }
        }
        cancel = { work.cancel() }
    }

    private func show(_ progress: EnrollmentProgress) {
        switch progress {
        case .began(let reader): open(PromptContent(enrolling: finger, reader.kind, reader.scanType))
        case .tested:
            isStored = true
            window?.apply(progress)
        case .scan, .confirming, .area, .again, .exercising: window?.apply(progress)
        }
    }

    private func open(_ content: PromptContent) {
        PromptWindow.open(content, nil) { _ in self.cancel() }
        window = PromptWindow.shown
    }

    /// Shows the result until the user closes the window, or for ten seconds.
    private func tell(_ outcome: Result<EnrolledFinger, ServiceError>) {
        onResult(outcome)
        switch outcome {
        case .success:
            isStored = true
            window?.end(translated("Enrolled."), isEnrolled: true)
        case .failure(let failure):
            // A user who canceled needs no message.
            guard failure.code != .userCancel, failure.code != .appCancel else { return end() }
            if window == nil { open(PromptContent(enrolling: finger, .hardware, .press)) }
            let sentences = [failure.message, failure.recovery].map { translated($0) }
            window?.end(sentences.joined(separator: " "), isEnrolled: isStored)
        }
        cancel = { self.end() }
        onMainThread(after: Self.result) { self.end() }
    }

    private func end() {
        guard !hasEnded else { return }
        hasEnded = true
        window?.close()
        onEnd(isStored)
    }
}
