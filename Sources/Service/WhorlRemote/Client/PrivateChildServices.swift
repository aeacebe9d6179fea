// SPDX-License-Identifier: Apache-2.0

internal import WhorlIPC
package import WhorlFingerprint
package import WhorlService

/// The services of a private child, including the methods that the system service does not have.
package struct PrivateChildServices: Sendable {
    /// The services.
    package let services: Services
    private let client: ServiceClient

    /// Combines a transport to the child with the services that the same child provides.
    package init(_ services: Services, over transport: any ServiceTransport) {
        self.services = services
        client = ServiceClient(transport: transport)
    }

    /// Returns the reader used for taking pictures; for root, it may also be a reader of the system service.
    ///
    /// - Throws: The errors of ``ReaderService/chosenReader()``.
    package func reader() async throws(ServiceError) -> ReaderInfo {
        try await client.call(PrivateInterface.Reader())
    }

    /// Takes a picture of a finger with this reader.
    ///
    /// - Parameter observer: Called for each event of the scan.
    /// - Returns: The picture, pixel by pixel as the driver delivered it.
    /// - Throws: The reader's error.
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

    /// Returns the keychain rows of every program, as stored in the directory; creates nothing if nothing was ever
    /// stored.
    package func keychainOfAllPrograms() async throws(ServiceError) -> StoredKeychain {
        let found = try await client.call(PrivateInterface.KeychainGroups())
        return StoredKeychain(groups: found.groups, count: found.count) { [client] group in
            RemoteKeychain(client: client, groups: [group])
        }
    }
}

/// The keychain rows of every program of a profile.
package struct StoredKeychain: Sendable {
    /// The access groups of all programs.
    package let groups: [String]
    /// The number of rows, readable or not.
    package let count: Int
    /// Returns the rows of an access group.
    package let rows: @Sendable (String) -> any KeychainRowService

    /// Creates the description of the rows.
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
