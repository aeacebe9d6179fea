// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// The services of one profile: everything that a program can ask for.
///
/// Programs hold nothing else. What answers (the state directory, the chip, the reader) is in this process or in another
/// one; no client can tell.
public struct Services: ServiceAsker {
    /// The profile whose fingers and items are meant.
    public let profile: String
    /// The program that asks.
    public let application: ApplicationID
    /// Answers operations.
    private let asker: any ServiceAsker
    /// The rows of the keychain.
    public let keychain: any KeychainRowService
    /// The connected readers.
    public let readers: any ReaderService
    /// The part that only the process has which answers.
    private let upkeep: (any StateUpkeep)?

    /// Puts services of one profile together.
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

    /// Answers an operation, in this process or through the socket.
    public func answer<Asked: ServiceOperation>(
        _ operation: Asked,
        _ prompter: Prompter?
    ) async throws(ServiceError) -> Asked.Reply { try await asker.answer(operation, prompter) }

    /// Decodes an item that the caller stored.
    public func sealedItem(encoded: Data) throws(ServiceError) -> SealedItem {
        try asker.sealedItem(encoded: encoded)
    }

    /// Adds a line to the profile's audit log about a call of another process; a service calls it for its callers.
    ///
    /// A log that cannot be written changes nothing; a service in another process writes its log itself.
    package func note(_ entry: AuditEntry) async { await upkeep?.note(entry) }

    /// Closes the connection to the chip, which is opened again when it is needed; a program calls this at its end.
    public func close() async { await upkeep?.close() }
}

/// The upkeep of a state by the process that keeps it.
package protocol StateUpkeep: Sendable {
    /// Adds a line to the profile's audit log.
    func note(_ entry: AuditEntry) async

    /// Closes the connection to the chip.
    func close() async
}
