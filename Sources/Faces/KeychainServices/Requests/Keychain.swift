// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
import WhorlService

/// The implementation of the four `SecItem` functions, using parsed dictionaries.
struct Keychain {
    let store: KeychainStore
    private let parts: ContextParts

    init(_ parts: ContextParts) {
        self.parts = parts
        store = KeychainStore(parts)
    }

    // MARK: - Add

    /// Stores an item without prompting the owner.
    func add(_ request: KeychainRequest) throws(KeychainError) -> AnyObject? {
        let values = try protectedValues(request)
        if let identity = request.identity { return try add(identity, request, values) }
        let (row, made) = try new(request, values)
        let stored = try store.add([row]) { old throws(KeychainError) in try values.isDead(old) }
        guard let item = stored.first else { throw KeychainError(errSecInternalComponent) }
        return try KeychainResult(request: request, values: values).object(added: item, made)
    }

    /// Stores several items, either all of them or none, replacing the items that match another query.
    func add(_ requests: [KeychainRequest], inPlaceOf old: KeychainRequest?) throws(KeychainError) {
        var replaced: [KeychainRowVersion] = []
        if let old, let match = try match(old) {
            replaced = try store.items(match, withValues: false).map(\.version)
        }
        var rows: [NewKeychainRow] = []
        for request in requests { rows.append(try new(request, try protectedValues(request)).row) }
        guard let first = requests.first else { return }
        let values = ProtectedValues(first, parts)
        _ = try store.add(rows, inPlaceOf: replaced) { old throws(KeychainError) in try values.isDead(old) }
    }

    /// Returns the row of a new item, and its value before the TPM seals it.
    func new(
        _ request: KeychainRequest,
        _ values: ProtectedValues
    ) throws(KeychainError) -> (row: NewKeychainRow, made: NewKeychainContents) {
        let form = try form(request)
        guard let itemClass = request.storedClass else { throw KeychainError(errSecUnimplemented) }
        var attributes = form?.attributes ?? [:]
        for (name, value) in request.attributes {
            guard itemClass.forms[name] != nil else { throw KeychainError(errSecNoSuchAttr) }
            attributes[name] = value
        }
        let record = KeychainRecord(
            itemClass,
            accessGroup: try store.group(request.accessGroup),
            protection: try protection(request, form),
            isSynchronizable: request.synchronizable == .yes,
            hasValue: form != nil || request.value != nil,
            attributes: attributes
        )
        guard !record.isSynchronizable || record.maySynchronize, record.size <= KeychainRecord.mostBytes
        else {
            throw KeychainError(errSecParam)
        }
        let made = form?.contents ?? .plain(request.value ?? Data())
        try KeychainResult(request: request, values: values).check(record, made)
        let contents =
            switch made {
            case .plain(let value): try newContents(value, record, values)
            case .sealed: made
            }
        return (NewKeychainRow(record, contents), made)
    }

    /// Returns the form of the object or the bytes, or `nil` for a password.
    private func form(_ request: KeychainRequest) throws(KeychainError) -> ReferenceForm? {
        if let reference = request.reference { return try reference.form() }
        guard let value = request.value, let itemClass = request.storedClass else { return nil }
        return try ItemReferences.form(of: value, itemClass, request.attributes)
    }

    /// Returns the access control of the new item, from the dictionary if it contains one and otherwise from the
    /// object.
    ///
    /// - Throws: `errSecParam` if the access control differs from the one that the TPM enforces for a key.
    private func protection(
        _ request: KeychainRequest,
        _ form: ReferenceForm?
    ) throws(KeychainError) -> SecAccessControl {
        let own = form?.protection ?? request.protection
        let lasting = request.accessible.map { SecAccessControl(protection: $0, flags: own.flags) }
        let wanted = request.accessControl ?? lasting ?? own
        if case .sealed? = form?.contents, wanted.flags != own.flags { throw KeychainError(errSecParam) }
        return wanted
    }

    private func newContents(
        _ value: Data,
        _ record: KeychainRecord,
        _ values: ProtectedValues
    ) throws(KeychainError) -> NewKeychainContents {
        guard record.protection.isConstrained else { return .plain(value) }
        return .sealed(try values.seal(value, record.protection))
    }

    // MARK: - Find

    /// Finds items, and prompts the owner if their values are requested and protected.
    func copyMatching(_ request: KeychainRequest) throws(KeychainError) -> AnyObject? {
        let values = try protectedValues(request)
        if request.itemClass == .identity { return try copyIdentities(request, values) }
        guard var match = try match(request) else { throw KeychainError(errSecItemNotFound) }
        if request.interface == .skip { match.leaveOutProtected() }
        let result = KeychainResult(request: request, values: values)
        // An item that can never be opened again is skipped but not deleted, and the next item takes its place.
        while true {
            let items =
                if request.certificates.isEmpty {
                    try living(
                        &match,
                        values,
                        withValues: request.needsValue(of: match.itemClass),
                        limit: request.limit ?? 1
                    )
                } else {
                    try certificates(&match, request.certificates, values, limit: request.limit ?? 1)
                }
            guard !items.isEmpty else { throw KeychainError(errSecItemNotFound) }
            switch try result.outcome(of: items) {
            case .object(let object): return object
            case .dead(let ids): match.leftOut.formUnion(ids)
            }
        }
    }

    /// Returns the matching items except those that can never be opened again, which are excluded from `match`.
    func living(
        _ match: inout KeychainMatch,
        _ values: ProtectedValues,
        withValues: Bool,
        limit: Int = .max
    ) throws(KeychainError) -> [KeychainRow] {
        // The width doubles, so that skipping many unusable items requires few queries.
        var width = limit
        while true {
            let items = try store.items(match, withValues: withValues, limit: width)
            let dead = try values.dead(of: items)
            let living = items.filter { !dead.contains($0.id) }
            match.leftOut.formUnion(dead)
            if dead.isEmpty || living.count >= limit || items.count < width {
                return Array(living.prefix(limit))
            }
            width = width.multipliedReportingOverflow(by: 2).overflow ? .max : width * 2
        }
    }

    /// Deletes the items that match any of the queries, without prompting the owner.
    ///
    /// Each query's limit applies to the items that match it.
    func delete(_ requests: [KeychainRequest]) throws(KeychainError) {
        var matches: [KeychainMatch] = []
        for request in requests {
            let values = try protectedValues(request)
            if request.itemClass == .identity {
                matches += try deletions(ofIdentities: request)
            } else if let match = try match(request) {
                matches += try deletions(of: match, limit: request.limit ?? .max, values)
            }
        }
        guard try store.delete(matches) > 0 else { throw KeychainError(errSecItemNotFound) }
    }

    /// Returns filters for the matching items that a search would find, up to the limit.
    ///
    /// A search does not find items that can never be opened again. Such items are included only if no other item
    /// matches.
    private func deletions(
        of match: KeychainMatch,
        limit: Int,
        _ values: ProtectedValues
    ) throws(KeychainError) -> [KeychainMatch] {
        guard limit < .max else { return [match] }
        var search = match
        var rows = try living(&search, values, withValues: false, limit: limit)
        if rows.isEmpty { rows = try store.items(match, withValues: false, limit: limit) }
        return rows.map { row in
            // The other conditions remain, because another process may change the item before it is deleted.
            var only = match
            only.id = row.id
            return only
        }
    }

    /// Returns the filter of a query, or `nil` if no item can match.
    func match(_ request: KeychainRequest) throws(KeychainError) -> KeychainMatch? {
        let groups = try request.accessGroup.map { name throws(KeychainError) in [try store.group(name)] }
        let form = try request.reference.map { reference throws(KeychainError) in try reference.form() }
        guard let itemClass = request.storedClass else { return nil }
        var match = KeychainMatch(itemClass, groups: groups ?? store.groups)
        match.id = request.persistentReference?.id
        for name in request.attributes.keys where itemClass.forms[name] == nil {
            throw KeychainError(errSecNoSuchAttr)
        }
        match.attributes = request.attributes
        if let form {
            for name in itemClass.identifying {
                match.attributes[name] = form.attributes[name] ?? match.attributes[name]
            }
        }
        match.accessible = request.accessible
        switch request.synchronizable {
        case .yes: match.isSynchronizable = true
        case .any: match.isSynchronizable = nil
        // A reference may identify an item of either kind.
        case nil: match.isSynchronizable = match.id == nil ? false : nil
        case .no: match.isSynchronizable = false
        }
        return match
    }

    /// Returns an object that performs the TPM operations of one call.
    ///
    /// - Throws: `errSecAuthFailed` if the context has ended, even if the call does not need the context.
    func protectedValues(_ request: KeychainRequest) throws(KeychainError) -> ProtectedValues {
        if let failure = request.context?.releaseObstacle { throw KeychainError(failure) }
        return ProtectedValues(request, parts)
    }
}

extension KeychainRequest {
    /// The item class, if items of this class are stored.
    var storedClass: KeychainClass? {
        guard case .stored(let itemClass)? = itemClass else { return nil }
        return itemClass
    }

    /// Returns whether the requested results require the values of items of a class, as bytes or as objects.
    func needsValue(of itemClass: KeychainClass) -> Bool {
        if returns.contains(.data) { return true }
        switch itemClass {
        case .key, .certificate: return returns.contains(.reference)
        case .genericPassword, .internetPassword: return false
        }
    }
}
