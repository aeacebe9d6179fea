// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import WhorlFingerprint
import WhorlIPC
package import WhorlService

extension Services {
    /// Creates one user's services, which a service in another process provides.
    ///
    /// - Parameters:
    ///   - profile: The profile, which the service assigns to this user.
    ///   - application: The requesting program.
    ///   - accessGroups: The additional keychain access groups that the program may use.
    ///   - transport: Opens connections to the service.
    /// - Returns: The services, which connect when they are first used.
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

/// The accounts of a system-wide service, for root.
package struct RemoteAccounts: Sendable {
    private let client: ServiceClient

    /// Creates access to the accounts over a transport to the service.
    package init(over transport: any ServiceTransport = PathTransport()) {
        client = ServiceClient(transport: transport)
    }

    /// Ends the lockout of a user's fingers if the system's rules allow the caller to do so.
    ///
    /// - Parameter user: The user ID.
    /// - Returns: Whether the fingers were locked out.
    /// - Throws: `notPermitted` if polkit does not allow it, or an error from the state directory.
    package func unlock(_ user: UInt32) async throws(ServiceError) -> Bool {
        try await client.call(LoginInterface.Unlock(value: user)).value
    }

    /// Identifies which of several users is touching the reader.
    ///
    /// - Parameters:
    ///   - users: The user IDs.
    ///   - request: The request. Its policy and its reuse window are ignored.
    ///   - presenter: Shows the prompt.
    /// - Returns: The user who touched the reader.
    /// - Throws: `invalidContext` if the machine does not allow identifying this many users; otherwise the errors of an
    ///   evaluation.
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

    /// Enrolls prints created by another program for a user who has neither a finger nor a passcode.
    ///
    /// - Parameters:
    ///   - prints: The prints, at most 2 MiB in total.
    ///   - user: The user ID.
    ///   - isTrial: Whether this is a dry run, which does not change anything.
    ///   - readersWereClosed: Whether the administrator confirms that only root could open the readers until now.
    /// - Returns: The result for each print, in the same order.
    /// - Throws: `ownerNeeded` if the user already has a finger or a passcode, or another error from the service.
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

    /// Returns information about each account whose state the service stores.
    package func accounts() async throws(ServiceError) -> [StoredAccount] {
        try await client.call(LoginInterface.ListAccounts()).value
    }

    /// Removes all data of the account that had a user ID.
    package func remove(_ number: UInt32, existing: Bool) async throws(ServiceError) {
        _ = try await client.call(LoginInterface.RemoveAccount(value: number, existing: existing))
    }

    /// Confirms that the state belongs to the account that now has the user ID.
    package func confirm(_ number: UInt32) async throws(ServiceError) {
        _ = try await client.call(LoginInterface.ConfirmAccount(value: number))
    }
}
