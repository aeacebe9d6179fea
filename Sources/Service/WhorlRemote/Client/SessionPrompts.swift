// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlIPC
public import WhorlService

/// The prompts of a login session's programs and enrollments, for a desktop program that shows them.
public enum SessionPrompts {
    /// Registers with the system service, and shows prompts until the task is cancelled or the service exits.
    ///
    /// - Parameters:
    ///   - presenter: Shows the prompts; nothing that it reports makes an evaluation succeed.
    ///   - onRegistration: Called once, as soon as prompts will be shown.
    /// - Throws: The error that ended it; `serviceUnavailable` if the service exited.
    public static func show(
        on presenter: any PromptPresenter,
        onRegistration: @escaping @Sendable () -> Void
    ) async throws(ServiceError) {
        _ = try await show(
            on: presenter,
            from: nil,
            untilQuietFor: nil,
            onRegistration: onRegistration
        )
    }

    /// Shows prompts until none was shown for a time.
    ///
    /// A program that needs much memory can hand over the registration to a small one that only waits for the next
    /// prompt (`poll(2)` on the descriptor). For the prompt, the small one starts it again. The process must stay the
    /// same, so use `execve(2)`.
    ///
    /// - Parameters:
    ///   - presenter: Shows the prompts; nothing that it reports makes an evaluation succeed.
    ///   - registration: The descriptor returned earlier by this function; `nil` to register. It is closed at the end.
    ///   - time: The time without a prompt; `nil` to show prompts as ``show(on:onRegistration:)`` does.
    ///   - isAllowed: Whether nothing else requires the program to keep running; called after each such time.
    ///   - onRegistration: Called once, as soon as prompts will be shown.
    /// - Returns: The descriptor of the registration, which lasts while it is open. The caller closes it.
    /// - Throws: The error that ended it; `serviceUnavailable` if the service exited.
    public static func show(
        on presenter: any PromptPresenter,
        from registration: Int32?,
        untilQuietFor time: Duration?,
        if isAllowed: @escaping @Sendable () -> Bool = { true },
        onRegistration: @escaping @Sendable () -> Void
    ) async throws(ServiceError) -> Int32 {
        let socket = try await RemoteAgent(over: PathTransport()).run(
            on: presenter,
            from: registration.map { Descriptor(owning: $0) },
            rest: time.map { RemoteAgent.Rest(after: $0, if: isAllowed) },
            onRegistration: onRegistration
        )
        let number = fcntl(socket.number, F_DUPFD_CLOEXEC, 3)
        // Without a free descriptor, the registration ends, and the caller registers again.
        guard number >= 0 else { throw ServiceError(.serviceUnavailable) }
        return number
    }

    /// Enrolls a finger with the system service, for a desktop program that shows the progress.
    ///
    /// - Parameters:
    ///   - finger: The finger's name, and the owner's label for it.
    ///   - application: The requesting program.
    ///   - presenter: Shows the prompt for the owner's consent, unless an agent of the session does.
    ///   - observer: Called for each event of the enrollment, on a thread of this library.
    /// - Returns: The finger as it was stored.
    /// - Throws: The errors of `EnrollFinger`. A cancelled enrollment stores nothing.
    public static func enroll(
        _ finger: NewFinger,
        for application: ApplicationID,
        presenter: any PromptPresenter,
        observer: @escaping @Sendable (EnrollmentProgress) -> Void
    ) async throws(ServiceError) -> EnrolledFinger {
        let service = RemoteAsker(client: ServiceClient(transport: PathTransport()))
        let enroll = EnrollFinger(finger, ConsentRequest(application: application))
        return try await service.ask(enroll, presenter: presenter, observer: observer)
    }
}
