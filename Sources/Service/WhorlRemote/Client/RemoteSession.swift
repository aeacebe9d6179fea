// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlIPC
import WhorlService

/// The service's side of an ``OwnerSession``, which lasts as long as this object.
///
/// The connection is the session: when it closes, also because the process ends, the service forgets what was shown.
final class RemoteSession: Sendable {
    /// The id by which calls name the session.
    let id: String
    private let connection: ServiceConnection
    private let isOver: Mutex<Bool>

    private init(_ id: String, _ connection: ServiceConnection, _ isOver: consuming Mutex<Bool>) {
        self.id = id
        self.connection = connection
        self.isOver = isOver
    }

    deinit { connection.close() }

    /// Returns the id of a session at the service, which is begun at the first use and after the service has left.
    ///
    /// - Returns: `nil` without a session, or where the service begins none: then nothing is kept, and the owner is
    ///   asked again.
    static func id(of session: OwnerSession?, _ client: ServiceClient) async -> String? {
        guard let session else { return nil }
        if let kept = session.content(as: RemoteSession.self), !kept.isOver.withLock(\.self) {
            return kept.id
        }
        let visit = session.visit()
        guard let begun = await begin(client) else { return nil }
        session.add(since: visit) { (_: RemoteSession?) in begun }
        return begun.id
    }

    private static func begin(_ client: ServiceClient) async -> RemoteSession? {
        // Without a session the owner is only asked more often.
        guard let connection = try? client.connection() else { return nil }
        let (ids, sink) = AsyncStream.makeStream(of: String.self)
        let watch = SessionWatch()
        Task {
            // The call ends with the connection, and never with a reply.
            let reply: CallReply<Valued<String>>? = try? await connection.call(
                OwnerInterface.session.name,
                NoValue(),
                update: { sink.yield($0.value) }
            )
            _ = reply
            watch.end()
            sink.finish()
        }
        for await id in ids {
            let session = RemoteSession(id, connection, Mutex(false))
            watch.onEnd { [weak session] in session?.isOver.withLock { $0 = true } }
            return session
        }
        return nil
    }
}

/// Tells once that a connection has ended.
private final class SessionWatch: Sendable {
    private let state = Mutex<(hasEnded: Bool, then: (@Sendable () -> Void)?)>((false, nil))

    func end() {
        let then = state.withLock { state in
            state.hasEnded = true
            return state.then
        }
        then?()
    }

    func onEnd(_ body: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            state.then = body
            return state.hasEnded
        }
        if hasEnded { body() }
    }
}
