// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import WhorlFingerprint
import WhorlIPC
package import WhorlService

extension Services {
    /// Makes the services of one user that a service provides in another process.
    ///
    /// - Parameters:
    ///   - profile: The profile, which the service gives to this user.
    ///   - application: The program that asks.
    ///   - accessGroups: The keychain's access groups that it may use in addition to its own.
    ///   - transport: Opens connections to the service.
    /// - Returns: The services, which connect when they are used.
    package static func remote(
        profile: String,
        application: ApplicationID,
        accessGroups: [String] = [],
        over transport: any ServiceTransport
    ) -> Services {
        let client = ServiceClient(transport: transport)
        return Services(
            profile: profile,
            application: application,
            asker: RemoteAsker(client: client),
            keychain: RemoteKeychain(client: client, groups: [application.rawValue] + accessGroups),
            readers: RemoteReaders(client: client)
        )
    }
}

/// The accounts of a service of the whole system, for root.
package struct RemoteAccounts: Sendable {
    private let client: ServiceClient

    /// Takes a transport to the service.
    package init(over transport: any ServiceTransport = PathTransport()) {
        client = ServiceClient(transport: transport)
    }

    /// Lifts the lock on the fingers of a user, whom the system's rules allow to the caller.
    ///
    /// - Parameter user: The user's number.
    /// - Returns: Whether they were locked.
    /// - Throws: `notPermitted` where polkit does not allow it; errors of the state directory.
    package func unlock(_ user: UInt32) async throws(ServiceError) -> Bool {
        try await client.call(LoginInterface.Unlock(value: user)).value
    }

    /// Asks which of several users touches the reader.
    ///
    /// - Parameters:
    ///   - users: The numbers of the users.
    ///   - request: The request; its policy and its window for reuse are not used.
    ///   - presenter: Shows the prompt.
    /// - Returns: The person who touched the reader.
    /// - Throws: `invalidContext` where the machine does not identify so many people; otherwise as an evaluation does.
    package func identify(
        among users: [UInt32],
        _ request: EvaluationRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> IdentifiedPerson {
        try await client.callPrompting(
            LoginInterface.Identify(users: users, request: request),
            Prompter(presenter)
        )
    }

    /// Enrolls prints that another program has made for a user without a finger and a passcode.
    ///
    /// - Parameters:
    ///   - prints: The prints, together at most 2 MiB.
    ///   - user: The user's number.
    ///   - isTrial: Whether nothing is changed.
    ///   - readersWereClosed: Whether the administrator vouches that only root could open the readers until now.
    /// - Returns: What became of each print, in their order.
    /// - Throws: `ownerNeeded` for a user who has a finger or a passcode; other errors of the service.
    package func takeOver(
        _ prints: [ForeignPrint],
        for user: UInt32,
        isTrial: Bool,
        readersWereClosed: Bool
    ) async throws(ServiceError) -> [ImportOutcome] {
        let bytes = prints.flatMap(\.template.bytes)
        let attached = SecretBox(SecretBytes(count: bytes.count) { $0.copyBytes(from: bytes) })
        let takeOver = LoginInterface.TakeOver(
            user: user,
            prints: prints.map {
                .init(finger: $0.finger, driver: $0.driver, number: $0.number, size: $0.template.bytes.count)
            },
            bytes: attached,
            isTrial: isTrial,
            readersWereClosed: readersWereClosed
        )
        let reply = try await client.call(takeOver).value
        guard reply.count == prints.count else { throw ServiceError(.malformed) }
        return reply
    }

    /// Returns what is known of each account whose state the service keeps.
    package func accounts() async throws(ServiceError) -> [StoredAccount] {
        try await client.call(LoginInterface.ListAccounts()).value
    }

    /// Removes everything of the account that had a number.
    package func remove(_ number: UInt32) async throws(ServiceError) {
        _ = try await client.call(LoginInterface.RemoveAccount(value: number))
    }

    /// Confirms that the account with a number is the one whose state it is.
    package func confirm(_ number: UInt32) async throws(ServiceError) {
        _ = try await client.call(LoginInterface.ConfirmAccount(value: number))
    }
}
