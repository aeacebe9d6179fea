// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import WhorlCallers
import WhorlRemote
import WhorlService

@testable import WhorlIPC

/// Login sessions as a test says.
struct ScriptedSessions: LoginSessions {
    var found: LoginSession?
    var fault: LoginSessionsFault?

    func session(ofProcess pid: Int32) async throws(LoginSessionsFault) -> LoginSession? {
        if let fault { throw fault }
        return found
    }
}

/// Rules for actions as a test says; they remember what they were asked.
final class ScriptedAuthority: ActionAuthority {
    private let answer: ServiceError?
    private let seen = Mutex<[(action: GuardedAction, subject: ActionSubject, mayAsk: Bool)]>([])

    init(refusing answer: ServiceError? = nil) { self.answer = answer }

    var asked: [(action: GuardedAction, subject: ActionSubject, mayAsk: Bool)] { seen.withLock(\.self) }

    func authorize(
        _ action: GuardedAction,
        _ subject: ActionSubject,
        mayAsk: Bool
    ) async throws(ServiceError) {
        seen.withLock { $0.append((action, subject, mayAsk)) }
        if let answer { throw answer }
    }
}

/// A journal that keeps what is written.
final class KeptJournal: CallJournal {
    private let lines = Mutex<[(record: CallRecord, asker: Asker?)]>([])

    var written: [(record: CallRecord, asker: Asker?)] { lines.withLock(\.self) }

    func write(_ record: CallRecord, of asker: Asker?) { lines.withLock { $0.append((record, asker)) } }
}

extension ServiceClientIdentity {
    /// This process at the other end of a pair of sockets.
    static func thisProcess(
        label: PeerLabel = .none,
        labelBefore: PeerLabel = .none,
        uid: UInt32 = geteuid()
    ) throws -> Self {
        let (own, other) = try UnixSocket.pair()
        defer { withExtendedLifetime(other) {} }
        let user = PeerUser(uid: uid, gid: getegid(), pid: getpid())
        return Self(
            user: user,
            process: PeerProcess(challenging: try PeerUser(of: own)),
            label: label,
            findings: ConnectionFindings(label: labelBefore)
        )
    }

    /// A caller whose process has not proven itself.
    static func unproven(label: PeerLabel = .none) -> Self {
        Self(user: PeerUser(uid: 1000, gid: 1000, pid: 1), process: nil, label: label)
    }
}
