// SPDX-License-Identifier: Apache-2.0

/// A trial of the operations that a reader supports, with a print that is deleted at the end.
public struct ReaderExercise: Sendable, Hashable, Codable {
    /// A step of the trial; the order of the cases is the order of the trial.
    public enum Step: String, CaseIterable, Sendable, Codable {
        case open = "open"
        case clearStorage = "clear-storage"
        case enroll = "enroll"
        case list = "list"
        case verify = "verify"
        case identify = "identify"
        case delete = "delete"
        case close = "close"

        /// The steps that the others do not need.
        ///
        /// The deletion is not among them: without it the print would stay in the reader.
        public static let skippable: [Step] = [.list, .verify, .identify]
    }

    /// The result of one step.
    public struct StepResult: Sendable, Hashable, Codable {
        /// The step.
        public let step: Step
        /// The time that the step took.
        public let seconds: Double
        /// The reason of the failure, a sentence; `nil` if the step succeeded.
        public let failure: String?
        /// The code of the failure, such as `readerFailed`; `nil` if the step succeeded.
        public let code: String?

        package init(step: Step, seconds: Double, failure: String?, code: String?) {
            self.step = step
            self.seconds = seconds
            self.failure = failure
            self.code = code
        }
    }

    /// Whether every print in the reader is deleted first, of all systems and users.
    public var clearsStorage: Bool
    /// The steps to leave out; only those in ``Step/skippable`` are.
    public var skipped: Set<Step>

    /// Describes a trial.
    public init(clearsStorage: Bool = false, skipped: Set<Step> = []) {
        self.clearsStorage = clearsStorage
        self.skipped = skipped
    }
}
