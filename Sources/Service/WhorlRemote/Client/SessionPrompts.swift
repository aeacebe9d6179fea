// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlIPC
public import WhorlService

/// The prompts of a login session's programs and enrollments, for a program of its desktop that shows them.
public enum SessionPrompts {
    /// Registers with the system's service, and shows prompts until the task is cancelled or the service leaves.
    ///
    /// - Parameters:
    ///   - presenter: Shows the prompts; nothing that it says makes an evaluation succeed.
    ///   - onRegistration: Called once, when prompts are shown from then on.
    /// - Throws: the error that ended it; `serviceUnavailable` when the service left.
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
    /// A program that needs much memory to show prompts can hand the registration to one that only waits for the next prompt
    /// (`poll(2)` on the descriptor), and be started again for it. The process has to stay the same one, as by `execve(2)`.
    ///
    /// - Parameters:
    ///   - presenter: Shows the prompts; nothing that it says makes an evaluation succeed.
    ///   - registration: The descriptor that this function returned before; `nil` to register. It is closed at the end.
    ///   - time: The time without a prompt; `nil` to show prompts as ``show(on:onRegistration:)`` does.
    ///   - isAllowed: Whether nothing else keeps the program; asked after each such time.
    ///   - onRegistration: Called once, when prompts are shown from then on.
    /// - Returns: The descriptor of the registration, which lasts while it is open. The caller closes it.
    /// - Throws: the error that ended it; `serviceUnavailable` when the service left.
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
        // Without a descriptor to spare the registration ends, and the caller registers again.
        guard number >= 0 else { throw ServiceError(.serviceUnavailable) }
        return number
    }

    /// Enrolls a finger with the system's service, for a program of the desktop that shows how it goes.
    ///
    /// - Parameters:
    ///   - finger: The finger's name, and its owner's words for it.
    ///   - application: The program that asks.
    ///   - presenter: Shows the prompt for the owner's consent, unless an agent of the session does.
    ///   - observer: Called for each event of the enrollment, on a thread of this library.
    /// - Returns: The finger as it was stored.
    /// - Throws: as `EnrollFinger`. Nothing is stored by an enrollment that is cancelled.
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
