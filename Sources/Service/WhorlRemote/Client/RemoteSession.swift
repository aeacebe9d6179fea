// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlIPC
import WhorlService

/// An ``OwnerSession``'s counterpart in the service, which exists as long as this object.
///
/// The session lasts as long as its connection. When the connection is closed, for example because the process exits,
/// the service forgets the proofs. The session belongs only to this process, which the service recognizes by the
/// connection.
final class RemoteSession: Sendable {
    /// The ID that identifies the session in calls.
    let id: String
    private let connection: ServiceConnection
    private let ending: Ending

    private init(_ id: String, _ connection: ServiceConnection, _ ending: Ending) {
        self.id = id
        self.connection = connection
        self.ending = ending
    }

    deinit { connection.close() }

    /// Returns the ID of a session in the service.
    ///
    /// The session is begun when it is first used, and again after the service has restarted.
    ///
    /// - Returns: The session's ID; `nil` if there is no session or the service cannot begin one. Proofs are then not
    ///   stored, and the owner is prompted again.
    static func id(of session: OwnerSession?, _ client: ServiceClient) async -> String? {
        guard let session else { return nil }
        if let kept = session.content(as: RemoteSession.self), !kept.ending.hasCome {
            return kept.id
        }
        let visit = session.visit()
        guard let begun = await begin(client) else { return nil }
        session.add(since: visit) { (_: RemoteSession?) in begun }
        return begun.id
    }

    private static func begin(_ client: ServiceClient) async -> RemoteSession? {
        // Without a session, the owner is only asked more often.
        guard let connection = try? await client.provenConnection() else { return nil }
        let (ids, sink) = AsyncStream.makeStream(of: String.self)
        let ending = Ending()
        Task {
            // The call ends with the connection, never with a reply.
            let reply: CallReply<Valued<String>>? = try? await connection.call(
                BeginSession.name,
                BeginSession(),
                update: { sink.yield($0.value) }
            )
            _ = reply
            ending.come()
            sink.finish()
        }
        for await id in ids { return RemoteSession(id, connection, ending) }
        return nil
    }
}

/// Whether a session's connection has ended.
private final class Ending: Sendable {
    private let state = Mutex(false)

    var hasCome: Bool { state.withLock(\.self) }
    func come() { state.withLock { $0 = true } }
}
