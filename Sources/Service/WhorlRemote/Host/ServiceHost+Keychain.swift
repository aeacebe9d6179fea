// SPDX-License-Identifier: Apache-2.0

import Dispatch
import FoundationEssentials
import WhorlIPC
import WhorlService

extension ServiceHost {
    func addKeychain(_ router: inout GuardedRouter) {
        router.on(KeychainInterface.Find.self) { (asked, call) async throws(ServiceRefusal) in
            let groups = try await groups(asked.groups, call)
            try await searches.take(call.client.user.uid) { () async throws(ServiceRefusal) in
                try await find(asked, groups, call)
            }
            return Valued([])
        }
        router.onAttaching(KeychainInterface.Add.self) {
            (asked, call) async throws(ServiceRefusal) in
            let groups = try await groups(asked.groups, call)
            let outcome = try await rows(groups, call) { (keychain) throws(ServiceRefusal) in
                let new = try Self.new(asked.new, call).map(groups.stored)
                return try refusing(keychain.add(new, replacing: asked.replacing))
            }
            return try Self.reply(groups.shown(outcome))
        }
        router.onAttaching(KeychainInterface.Update.self) {
            (asked, call) async throws(ServiceRefusal) in
            let groups = try await groups(asked.groups, call)
            let outcome = try await rows(groups, call) { (keychain) throws(ServiceRefusal) in
                let new = try Self.new(asked.changes, call).map(groups.stored)
                var changes: [KeychainRowChange] = []
                for (row, new) in zip(asked.changes, new) {
                    guard let version = row.version else { throw .invalidParameter("changes.version") }
                    changes.append(KeychainRowChange(version, to: new))
                }
                return try refusing(keychain.update(changes, replacing: asked.replacing))
            }
            return try Self.reply(groups.shown(outcome))
        }
        router.on(KeychainInterface.Delete.self) { (asked, call) async throws(ServiceRefusal) in
            let groups = try await groups(asked.groups, call)
            return Valued(
                try await rows(groups, call) { (keychain) throws(ServiceRefusal) in
                    try refusing(keychain.delete(asked.matches.map(groups.stored)))
                }
            )
        }
    }

    /// Returns the groups that a caller may use: those that it names, or a confined program's own group.
    private func groups(_ named: [String], _ call: ServiceCall) async throws(ServiceRefusal) -> CallerGroups {
        guard !named.isEmpty, named.count <= 64 else { throw .invalidParameter("groups") }
        return CallerGroups(named, try await rules.confinement(of: call.client))
    }

    /// Accesses the rows of the caller's program on a thread that may block; the values sent with the call are read on
    /// the same thread.
    ///
    /// A call that reads values (`hasValues`) already has its turn; other calls first wait for theirs.
    func rows<Value: Sendable>(
        _ groups: CallerGroups,
        _ call: ServiceCall,
        hasValues: Bool = false,
        _ body: @escaping @Sendable (any KeychainPages) throws(ServiceRefusal) -> Value
    ) async throws(ServiceRefusal) -> Value {
        let keychain = try keychain(call.client.user, groups.searched)
        let bringsMuch = Self.bringsMuch(call)
        let work: @Sendable () throws(ServiceRefusal) -> Value = { () throws(ServiceRefusal) in
            try body(keychain)
        }
        if hasValues { return try await Self.run(on: Self.largeCalls, work) }
        let queue = bringsMuch ? Self.largeCalls : Self.calls
        return try await rowCalls.take(call.client.user.uid) { () async throws(ServiceRefusal) in
            try await Self.run(on: queue, work)
        }
    }

    /// Runs blocking work on a queue.
    static func run<Value: Sendable>(
        on queue: DispatchQueue,
        _ body: @escaping @Sendable () throws(ServiceRefusal) -> Value
    ) async throws(ServiceRefusal) -> Value {
        let result = await withCheckedContinuation {
            (done: CheckedContinuation<Result<Value, ServiceRefusal>, Never>) in
            queue.async {
                done.resume(returning: Result { () throws(ServiceRefusal) in try body() })
            }
        }
        return try result.get()
    }

    static let calls = DispatchQueue(label: "whorl.keychain-rows", attributes: .concurrent)
    /// The queue for large calls.
    ///
    /// Only one runs at a time, because the values of many connections would fill the memory.
    private static let largeCalls = DispatchQueue(label: "whorl.large-keychain-rows")

    private static func bringsMuch(_ call: ServiceCall) -> Bool {
        guard let file = call.descriptors.first else { return false }
        // If it is unreadable, the code that reads it refuses it.
        return (try? SecretDescriptor.size(of: file, most: 1 << 20)) == nil
    }

    private static func new(_ rows: [WireRow], _ call: ServiceCall) throws(ServiceRefusal) -> [NewKeychainRow]
    {
        let file: Data
        do { file = try Data(besideMessage: call.descriptors) } catch {
            throw .invalidParameter("descriptor")
        }
        var new: [NewKeychainRow] = []
        for row in rows {
            guard let made = row.new(file), made.record.size <= KeychainRecord.mostBytes else {
                throw .invalidParameter("rows")
            }
            new.append(made)
        }
        return new
    }

    private static func reply(
        _ outcome: KeychainOutcome
    ) throws(ServiceRefusal) -> ServiceReply<KeychainInterface.Outcome> {
        var packer = RowPacker()
        let name: String
        switch outcome {
        case .stored(let rows):
            name = "stored"
            for row in rows { packer.add(row) }
        case .taken(let row):
            name = "taken"
            packer.add(row)
        case .stale: name = "stale"
        case .noPasscode: name = "noPasscode"
        case .groupRefused: name = "groupRefused"
        }
        let files = try refusing(packer.files())
        return ServiceReply(.init(outcome: name, rows: packer.rows), descriptors: files)
    }
}

extension ServiceHost {
    /// Sends the rows that a search finds, one page at a time; each page is read after the caller has received the
    /// previous one.
    ///
    /// The IDs of all rows are found first, so a row is never sent twice. A row that is deleted in the meantime is
    /// omitted.
    func find(
        _ asked: KeychainInterface.Find,
        _ groups: CallerGroups,
        _ call: ServiceCall
    ) async throws(ServiceRefusal) {
        let match = groups.stored(asked.match)
        guard asked.limit > 1 else { return try await findOne(match, asked, groups, call) }
        let numbers = try await rows(groups, call) { (keychain) throws(ServiceRefusal) in
            try refusing(keychain.numbers(match, limit: asked.limit))
        }
        // Reads nothing for a caller that accepts no rows or is gone.
        guard call.wantsMore else { return }
        var rest = numbers[...]
        while !rest.isEmpty, !Task.isCancelled {
            let next = rest.prefix(RowPacker.mostRows)
            let page = try await rows(groups, call, hasValues: asked.withValues) {
                (keychain) throws(ServiceRefusal) in
                try refusing(
                    keychain.page(
                        match,
                        of: next,
                        withValues: asked.withValues,
                        mostBytes: RowPacker.fullBytes
                    )
                )
            }
            if rest.count < numbers.count { await call.untilRead() }
            try await send(page.rows, groups, call)
            rest = rest.dropFirst(page.count)
        }
    }

    /// Sends a single row, which is read only once.
    private func findOne(
        _ match: KeychainMatch,
        _ asked: KeychainInterface.Find,
        _ groups: CallerGroups,
        _ call: ServiceCall
    ) async throws(ServiceRefusal) {
        let found = try await rows(groups, call, hasValues: asked.withValues) {
            (keychain) throws(ServiceRefusal) in
            try refusing(keychain.rows(match, withValues: asked.withValues, limit: asked.limit))
        }
        try await send(found, groups, call)
    }

    private func send(
        _ rows: [KeychainRow],
        _ groups: CallerGroups,
        _ call: ServiceCall
    ) async throws(ServiceRefusal) {
        // The values stay in this service's memory until they are read. Small ones are not worth the wait.
        if try update(rows, groups, call) > 1 << 16 { await call.untilRead() }
    }

    /// Sends rows, and returns the total size of their values in bytes.
    private func update(
        _ rows: [KeychainRow],
        _ groups: CallerGroups,
        _ call: ServiceCall
    ) throws(ServiceRefusal) -> Int {
        var message = RowPacker()
        for row in rows { message.add(groups.shown(row)) }
        call.update(Valued(message.rows), descriptors: try refusing(message.files()))
        return message.count
    }
}
