// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// The services of one profile: everything that a program can request.
///
/// Programs have no other access to the state directory, the TPM or the reader. The services may run in this process or
/// in another one; a client cannot tell the difference.
public struct Services: ServiceAsker {
    /// The profile whose fingers and items are used.
    public let profile: String
    /// The calling program.
    public let application: ApplicationID
    /// The object that performs the operations.
    private let asker: any ServiceAsker
    /// The keychain rows.
    public let keychain: any KeychainRowService
    /// The connected readers.
    public let readers: any ReaderService
    /// The maintenance functions, which exist only in the process that performs the operations.
    private let upkeep: (any StateUpkeep)?

    /// Creates the services of one profile.
    package init(
        profile: String,
        application: ApplicationID,
        asker: any ServiceAsker,
        keychain: any KeychainRowService,
        readers: any ReaderService,
        upkeep: (any StateUpkeep)? = nil
    ) {
        self.profile = profile
        self.application = application
        self.asker = asker
        self.keychain = keychain
        self.readers = readers
        self.upkeep = upkeep
    }

    /// Performs an operation, in this process or through the socket.
    public func answer<Asked: ServiceOperation>(
        _ operation: Asked,
        _ prompter: Prompter?
    ) async throws(ServiceError) -> Asked.Reply { try await asker.answer(operation, prompter) }

    /// Decodes an item that the caller stored.
    public func sealedItem(encoded: Data) throws(ServiceError) -> SealedItem {
        try asker.sealedItem(encoded: encoded)
    }

    /// Adds an entry to the profile's audit log about a call from another process.
    ///
    /// A service calls this on behalf of its callers. Errors are ignored, and a service in another process writes its
    /// own log.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - beginsLog: Whether to create the log of a user who has stored nothing.
    package func note(_ entry: AuditEntry, beginsLog: Bool) async {
        await upkeep?.note(entry, beginsLog: beginsLog)
    }

    /// Closes the connection to the TPM, which is reopened when needed; call this before the program exits.
    public func close() async { await upkeep?.close() }
}

/// Maintenance of the state by the process that owns it.
package protocol StateUpkeep: Sendable {
    /// Adds an entry to the profile's audit log, and creates the log if `beginsLog` is true.
    func note(_ entry: AuditEntry, beginsLog: Bool) async

    /// Closes the connection to the TPM.
    func close() async
}
