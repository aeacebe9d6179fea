// SPDX-License-Identifier: Apache-2.0

internal import WhorlIPC
package import WhorlFingerprint
package import WhorlService

/// The services of a private child, with the methods that the system's service does not have.
package struct PrivateChildServices: Sendable {
    /// The services.
    package let services: Services
    private let client: ServiceClient

    /// Takes a transport to the child, and the services that the same child provides.
    package init(_ services: Services, over transport: any ServiceTransport) {
        self.services = services
        client = ServiceClient(transport: transport)
    }

    /// Returns the reader that takes pictures; root's is also one that belongs to the system's service.
    ///
    /// - Throws: as ``ReaderService/chosenReader()``.
    package func reader() async throws(ServiceError) -> ReaderInfo {
        try await client.call(PrivateInterface.Reader())
    }

    /// Takes a picture of a finger with it.
    ///
    /// - Parameter observer: Is called for each event of the scan.
    /// - Returns: The picture, pixel for pixel what the driver gave.
    /// - Throws: the reader's error.
    package func capture(observer: @escaping ScanObserver) async throws(ReaderError) -> FingerprintImage {
        do throws(ServiceError) {
            let end = try await client.call(
                PrivateInterface.Capture(),
                update: { step in if let event = step.event { observer(event) } }
            )
            guard let image = end.image else { throw ServiceError(.malformed) }
            return image
        } catch {
            throw ReaderError(error)
        }
    }

    /// Returns the keychain's rows of every program, as they lie in the directory; nothing is made if nothing was ever
    /// stored.
    package func keychainOfAllPrograms() async throws(ServiceError) -> StoredKeychain {
        let found = try await client.call(PrivateInterface.KeychainGroups())
        return StoredKeychain(groups: found.groups, count: found.count) { [client] group in
            RemoteKeychain(client: client, groups: [group])
        }
    }
}

/// The keychain's rows of every program of a profile.
package struct StoredKeychain: Sendable {
    /// The access groups of all programs.
    package let groups: [String]
    /// The number of rows, whether or not they can be read.
    package let count: Int
    /// Returns the rows in one of the groups.
    package let rows: @Sendable (String) -> any KeychainRowService

    /// Describes the rows.
    package init(
        groups: [String],
        count: Int,
        rows: @escaping @Sendable (String) -> any KeychainRowService
    ) {
        self.groups = groups
        self.count = count
        self.rows = rows
    }
}
