// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlIPC
public import WhorlService

/// The prompts and enrollments of a login session, for a desktop program that shows them.
public enum SessionPrompts {
    /// Registers with the system service and shows prompts until the task is cancelled or the service exits.
    ///
    /// - Parameters:
    ///   - presenter: Shows the prompts; nothing that it reports can make an evaluation succeed.
    ///   - onRegistration: Called once, when the registration has taken effect.
    /// - Throws: The error that ended the registration; `serviceUnavailable` if the service exited.
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

    /// Shows prompts until none has been shown for a given time.
    ///
    /// A program that needs a lot of memory can hand over the registration to a small program that only waits for the
    /// next prompt (by calling `poll(2)` on the descriptor). To show that prompt, the small program starts the other
    /// one again. Both must run in the same process, so use `execve(2)`.
    ///
    /// - Parameters:
    ///   - presenter: Shows the prompts; nothing that it reports can make an evaluation succeed.
    ///   - registration: The descriptor that an earlier call of this function returned; `nil` to register. The function
    ///     closes it.
    ///   - time: The time without a prompt after which the function returns; `nil` to show prompts as
    ///     ``show(on:onRegistration:)`` does.
    ///   - isAllowed: Called each time this time has passed; returns whether nothing else requires the program to keep
    ///     running.
    ///   - onRegistration: Called once, when the registration has taken effect.
    /// - Returns: The descriptor of the registration, which lasts as long as the descriptor is open. The caller must
    ///   close it.
    /// - Throws: The error that ended the registration; `serviceUnavailable` if the service exited.
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

    /// Enrolls a finger through the system service, for a desktop program that shows the progress.
    ///
    /// - Parameters:
    ///   - finger: The finger's name, and the owner's label for it.
    ///   - application: The requesting program.
    ///   - presenter: Shows the prompt for the owner's consent, unless the session has an agent that shows it.
    ///   - observer: Called for each event of the enrollment, on one of this library's threads.
    /// - Returns: The finger as it was stored.
    /// - Throws: The errors of `EnrollFinger`. If the enrollment is cancelled, nothing is stored.
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
