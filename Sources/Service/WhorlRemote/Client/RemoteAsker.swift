// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WhorlIPC
import WhorlService

/// Sends requests to a service in another process.
struct RemoteAsker: ServiceAsker {
    let client: ServiceClient

    func answer<Asked: ServiceOperation>(
        _ operation: Asked,
        _ prompter: Prompter?
    ) async throws(ServiceError) -> Asked.Reply {
        let operation = await client.namingSession(operation)
        guard let prompter else { return try await client.call(operation) }
        return try await client.callPrompting(operation, prompter)
    }

    func sealedItem(encoded: Data) throws(ServiceError) -> SealedItem {
        try client.callBlocking(DecodeItem(encoded)).parameters.item
    }
}

extension ServiceClient {
    /// Returns the operation with the ID of its session in the service; the session is begun if it does not exist.
    fileprivate func namingSession<Asked: ServiceOperation>(_ operation: Asked) async -> Asked {
        guard Asked.isInSession, var inSession = operation as? any SessionOperation else { return operation }
        inSession.sessionID = await RemoteSession.id(of: inSession.session, self)
        return inSession as? Asked ?? operation
    }
}
