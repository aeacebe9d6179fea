// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import WhorlContext
public import WhorlService

/// The enrollment of a finger, as a sequence of steps; see ``Fingers/enroll(_:label:presenter:)``.
public struct Enrollment: AsyncSequence, Sendable {
    /// A step to show to the user.
    public struct Step: Sendable, Hashable {
        /// The event to tell the user about.
        public enum Event: Sendable, Hashable {
            /// The reader waits for the finger.
            case touch
            /// The presentation could not be read, and is repeated.
            case retry(ScanRetry)
            /// The presentation counts.
            case accepted
            /// All presentations are complete; one more touch confirms the print.
            case confirm
            /// The finger is stored.
            case stored
        }

        /// The event to tell the user about.
        public let event: Event
        /// The number of presentations that are complete.
        public let completed: Int
        /// The number of presentations that the reader needs; 0 until it is known.
        public let total: Int
    }

    private let finger: NewFinger
    private let presenter: (any PromptPresenter)?

    init(_ finger: NewFinger, _ presenter: (any PromptPresenter)?) {
        self.finger = finger
        self.presenter = presenter
    }

    /// Begins the enrollment.
    public func makeAsyncIterator() -> Iterator { Iterator(finger, presenter, ContextParts.current) }

    /// The steps of an enrollment that has begun.
    public struct Iterator: AsyncIteratorProtocol {
        private var results: AsyncStream<Result<Step, ServiceError>>.Iterator

        init(_ finger: NewFinger, _ presenter: (any PromptPresenter)?, _ parts: ContextParts) {
            let (stream, sink) = AsyncStream.makeStream(of: Result<Step, ServiceError>.self)
            let enrolling = Task {
                do throws(ServiceError) {
                    let last = Mutex((completed: 0, total: 0))
                    let operation = EnrollFinger(finger, ConsentRequest(application: parts.application))
                    _ = try await parts.ask(operation, presenter: presenter ?? parts.presenter) { progress in
                        let step = last.withLock { Step(progress, after: &$0) }
                        if let step { sink.yield(.success(step)) }
                    }
                    let (completed, total) = last.withLock(\.self)
                    sink.yield(.success(Step(event: .stored, completed: completed, total: total)))
                } catch {
                    sink.yield(.failure(error))
                }
                sink.finish()
            }
            sink.onTermination = { _ in enrolling.cancel() }
            results = stream.makeAsyncIterator()
        }

        /// Returns the next step; `nil` after the finger was stored.
        ///
        /// - Throws: The reason why the user was not authenticated; `fingerExists`, `duplicate`, `inconsistent`,
        ///   `tooManyRetries`, `timedOut`, a reader's error, and others.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(ServiceError) -> Step? { try await results.next(isolation: actor)?.get() }

        /// Returns the next step; see ``next(isolation:)``.
        public mutating func next() async throws(ServiceError) -> Step? {
            try await next(isolation: #isolation)
        }
    }
}

extension Enrollment.Step {
    /// Creates the step of a service's event; `nil` for an event that changes nothing to show.
    fileprivate init?(_ progress: EnrollmentProgress, after last: inout (completed: Int, total: Int)) {
        let event: Event
        switch progress {
        case .scan(.touch): event = .touch
        case .scan(.retry(let retry)): event = .retry(retry)
        case .scan(.stage(let completed, let total)):
            last = (completed, total)
            event = .accepted
        case .confirming: event = .confirm
        case .began, .scan, .area, .again, .tested, .exercising: return nil
        }
        self.init(event: event, completed: last.completed, total: last.total)
    }
}
