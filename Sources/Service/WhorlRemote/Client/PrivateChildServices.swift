// SPDX-License-Identifier: Apache-2.0

internal import WhorlIPC
package import WhorlFingerprint
package import WhorlService

/// The services of a private child, including methods that the system service does not have.
package struct PrivateChildServices: Sendable {
    /// The services.
    package let services: Services
    private let client: ServiceClient

    /// Creates the services from those that the child provides and a transport to the same child.
    package init(_ services: Services, over transport: any ServiceTransport) {
        self.services = services
        client = ServiceClient(transport: transport)
    }

    /// Returns the reader with which to capture images; for root, this may be a reader that the system service owns.
    ///
    /// - Throws: The errors of ``ReaderService/chosenReader()``.
    package func reader() async throws(ServiceError) -> ReaderInfo {
        try await client.call(PrivateInterface.Reader())
    }

    /// Captures an image of a finger with this reader.
    ///
    /// - Parameter observer: Called for each event of the scan.
    /// - Returns: The image, with each pixel as the driver delivered it.
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

    /// Returns all programs' keychain rows that are stored in the directory.
    ///
    /// If nothing was ever stored, nothing is created.
    package func keychainOfAllPrograms() async throws(ServiceError) -> StoredKeychain {
        let found = try await client.call(PrivateInterface.KeychainGroups())
        return StoredKeychain(groups: found.groups, count: found.count) { [client] group in
            RemoteKeychain(client: client, groups: [group])
        }
    }
}

/// The keychain rows of all programs in a profile.
package struct StoredKeychain: Sendable {
    /// The access groups of all programs.
    package let groups: [String]
    /// The number of rows, readable or not.
    package let count: Int
    /// Returns the rows for an access group.
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
