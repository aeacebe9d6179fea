// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
import WhorlService

extension ServiceHost {
    /// Sends the rows that a search finds, a page at a time: the next one is read when the caller has read the last.
    ///
    /// The numbers of all rows are found first. So no row comes twice, and one that is deleted while others are sent is
    /// left out.
    func find(
        _ asked: KeychainInterface.Finding,
        _ groups: CallerGroups,
        _ call: ServiceCall
    ) async throws(ServiceRefusal) {
        let match = groups.stored(asked.match)
        guard asked.limit > 1 else { return try await findOne(match, asked, groups, call) }
        let numbers = try await rows(groups, call) { (keychain) throws(ServiceRefusal) in
            try refusing { () throws(StateError) in try keychain.numbers(match, limit: asked.limit) }
        }
        // Nothing is read for a caller that takes no rows, or has gone.
        guard call.wantsMore else { return }
        var rest = numbers[...]
        while !rest.isEmpty, !Task.isCancelled {
            let next = rest.prefix(RowPacker.mostRows)
            let page = try await rows(groups, call) { (keychain) throws(ServiceRefusal) in
                try refusing { () throws(StateError) in
                    try keychain.page(
                        match,
                        of: next,
                        withValues: asked.withValues,
                        mostBytes: RowPacker.fullBytes
                    )
                }
            }
            if rest.count < numbers.count { await call.untilRead() }
            try send(page.rows, groups, call)
            rest = rest.dropFirst(page.count)
        }
    }

    /// Sends a single row, which needs no second look.
    private func findOne(
        _ match: KeychainMatch,
        _ asked: KeychainInterface.Finding,
        _ groups: CallerGroups,
        _ call: ServiceCall
    ) async throws(ServiceRefusal) {
        let found = try await rows(groups, call) { (keychain) throws(ServiceRefusal) in
            try refusing { () throws(StateError) in
                try keychain.rows(match, withValues: asked.withValues, limit: asked.limit)
            }
        }
        try send(found, groups, call)
    }

    private func send(
        _ rows: [KeychainRow],
        _ groups: CallerGroups,
        _ call: ServiceCall
    ) throws(ServiceRefusal) {
        var message = RowPacker()
        for row in rows { message.add(groups.shown(row)) }
        call.update(Valued(message.rows), descriptors: try Self.descriptors(of: message))
    }
}
