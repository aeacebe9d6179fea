// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WhorlIPC
import WhorlService

/// The keychain rows that a service stores.
///
/// Like the keychain's calls, its calls block their thread.
struct RemoteKeychain: KeychainRowService {
    let client: ServiceClient
    let groups: [String]

    func rows(_ match: KeychainMatch, withValues: Bool, limit: Int) throws(ServiceError) -> [KeychainRow] {
        var found: [KeychainRow] = []
        let find = KeychainInterface.Find(
            groups: groups,
            match: match,
            withValues: withValues,
            limit: limit
        )
        _ = try client.callBlocking(
            find,
            update: { update throws(ServiceCallError) in
                found += try update.parameters.value.found(beside: update.descriptors)
            }
        )
        return found
    }

    func add(
        _ new: [NewKeychainRow],
        replacing: [KeychainRowVersion]
    ) throws(ServiceError) -> KeychainOutcome {
        var packer = RowPacker()
        for row in new { packer.add(row) }
        return try outcome(
            of: KeychainInterface.Add(groups: groups, new: packer.rows, replacing: replacing),
            packer
        )
    }

    func update(
        _ changes: [KeychainRowChange],
        replacing: [KeychainRowVersion]
    ) throws(ServiceError) -> KeychainOutcome {
        var packer = RowPacker()
        for change in changes { packer.add(change.new, to: change.version) }
        return try outcome(
            of: KeychainInterface.Update(groups: groups, changes: packer.rows, replacing: replacing),
            packer
        )
    }

    func delete(_ matches: [KeychainMatch]) throws(ServiceError) -> Int {
        try client.callBlocking(KeychainInterface.Delete(groups: groups, matches: matches)).parameters.value
    }

    private func outcome<Asked: ServiceOperation>(
        of operation: Asked,
        _ packer: RowPacker
    ) throws(ServiceError) -> KeychainOutcome where Asked.Reply == KeychainInterface.Outcome {
        let reply = try client.callBlocking(operation, try packer.files())
        // Rows that do not fit their descriptors are an unreadable answer.
        guard let rows = try? reply.parameters.rows.found(beside: reply.descriptors) else {
            throw ServiceError(.malformed)
        }
        switch (reply.parameters.outcome, rows.first) {
        case ("stored", _): return .stored(rows)
        case ("taken", let row?): return .taken(by: row)
        case ("stale", _): return .stale
        case ("noPasscode", _): return .noPasscode
        case ("groupRefused", _): return .groupRefused
        default: throw ServiceError(.malformed)
        }
    }
}

extension [WireRow] {
    /// Returns the rows with their values, which are sent along with the message.
    fileprivate func found(beside descriptors: [Descriptor]) throws(ServiceCallError) -> [KeychainRow] {
        let file = try Data(besideMessage: descriptors)
        var rows: [KeychainRow] = []
        for row in self {
            guard let found = row.found(file) else { throw .malformed }
            rows.append(found)
        }
        return rows
    }
}

extension Data {
    /// Reads the values that were sent along with a message; empty if the message has no memory file.
    init(besideMessage descriptors: [Descriptor]) throws(ServiceCallError) {
        guard let first = descriptors.first else {
            self = Data()
            return
        }
        do {
            self = Data(try SecretDescriptor.readOrdinary(first, most: RowPacker.mostBytes))
        } catch {
            throw .malformed
        }
    }
}
