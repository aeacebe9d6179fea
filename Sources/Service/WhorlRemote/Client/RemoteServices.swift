// SPDX-License-Identifier: Apache-2.0

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
            owner: RemoteOwner(client: client),
            items: RemoteItems(client: client),
            namedItems: RemoteNamedItems(client: client),
            keychain: RemoteKeychain(client: client, groups: [application.rawValue] + accessGroups),
            fingers: RemoteFingers(client: client),
            passcode: RemotePasscode(client: client),
            keyring: RemoteKeyring(client: client),
            readers: RemoteReaders(client: client),
            maintenance: RemoteMaintenance(client: client)
        )
    }
}
