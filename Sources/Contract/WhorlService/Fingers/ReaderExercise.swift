// SPDX-License-Identifier: Apache-2.0

/// A test of the operations that a reader supports, using a print that is deleted at the end.
public struct ReaderExercise: Sendable, Hashable, Codable {
    /// A step of the test; the steps run in the order of the cases.
    public enum Step: String, CaseIterable, Sendable, Codable {
        case open = "open"
        case clearStorage = "clear-storage"
        case enroll = "enroll"
        case list = "list"
        case verify = "verify"
        case identify = "identify"
        case delete = "delete"
        case close = "close"

        /// The steps that no other step depends on.
        ///
        /// Deletion is not one of them: if it were skipped, the print would remain in the reader.
        public static let skippable: [Step] = [.list, .verify, .identify]
    }

    /// The result of one step.
    public struct StepResult: Sendable, Hashable, Codable {
        /// The step that was run.
        public let step: Step
        /// The duration of the step in seconds.
        public let seconds: Double
        /// A sentence that describes the failure; `nil` if the step succeeded.
        public let failure: String?
        /// The error code, such as `readerFailed`; `nil` if the step succeeded.
        public let code: String?

        package init(step: Step, seconds: Double, failure: String?, code: String?) {
            self.step = step
            self.seconds = seconds
            self.failure = failure
            self.code = code
        }
    }

    /// Whether to first delete every print in the reader, including those of other systems and users.
    public var clearsStorage: Bool
    /// The steps to skip; only those in ``Step/skippable`` can be skipped.
    public var skipped: Set<Step>

    /// Creates a test.
    public init(clearsStorage: Bool = false, skipped: Set<Step> = []) {
        self.clearsStorage = clearsStorage
        self.skipped = skipped
    }
}
