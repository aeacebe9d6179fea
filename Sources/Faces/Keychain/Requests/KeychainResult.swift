// SPDX-License-Identifier: Apache-2.0

/// Makes what a call gives: one kind as it is, several in a dictionary; one item as it is, several in an array.
struct KeychainResult {
    private let request: KeychainRequest
    private let store: KeychainStore
    private let values: ProtectedValues

    init(_ request: KeychainRequest, _ store: KeychainStore, _ values: ProtectedValues) {
        self.request = request
        self.store = store
        self.values = values
    }

    /// What became of the items that were found.
    enum Outcome {
        case object(AnyObject?)
        /// These can never be opened again, or were edited; they are left out.
        case dead([Int64])
    }

    /// What became of one item's value.
    private enum Value {
        /// `nil` where it is not wanted, and for what does not leave the chip.
        case known(Data?)
        case dead
    }

    /// The result for items that were found; the owner is asked where values are wanted that need him.
    func outcome(of items: [KeychainItem]) throws(KeychainError) -> Outcome {
        var objects: [AnyObject] = []
        var dead: [Int64] = []
        for item in items {
            switch try value(of: item) {
            case .known(let value): if let object = try object(for: item, value) { objects.append(object) }
            case .dead: dead.append(item.id)
            }
        }
        guard dead.isEmpty else { return .dead(dead) }
        guard !request.returns.isEmpty else { return .object(nil) }
        return .object((request.limit ?? 1) == 1 ? objects.first : objects as NSArray)
    }

    /// Whether what is wanted of a new item can be given, before it is stored.
    ///
    /// - Throws: `errSecDataNotAvailable` for a key of the chip, `errSecInvalidKeyRef` for bytes that are no key, and
    ///   `errSecUnimplemented` for the object of a password.
    func check(_ record: ItemRecord, _ made: KeychainStore.NewContents) throws(KeychainError) {
        switch made {
        case .plain(let value):
            if request.returns.contains(.reference), record.itemClass == .key {
                _ = try SecKey.stored(record, value)
            }
        case .sealed:
            if request.returns.contains(.data) { throw KeychainError(errSecDataNotAvailable) }
        }
        if request.returns == .reference { try checkObject(of: record) }
    }

    /// A password has no object; besides other kinds it is left out.
    private func checkObject(of record: ItemRecord) throws(KeychainError) {
        switch record.itemClass {
        case .key, .certificate: break
        case .genericPassword, .internetPassword: throw KeychainError(errSecUnimplemented)
        }
    }

    /// The result for an item that was just added, whose value nobody has to show anything for yet.
    func object(
        added item: KeychainItem,
        _ made: KeychainStore.NewContents
    ) throws(KeychainError) -> AnyObject? {
        switch made {
        case .plain(let value): try object(for: item, value)
        case .sealed: try object(for: item, nil)
        }
    }

    /// The result for one item; a value that is wanted is `nil` where it does not leave the chip.
    private func object(for item: KeychainItem, _ value: Data?) throws(KeychainError) -> AnyObject? {
        let returns = request.returns
        var parts: [String: AnyObject] = [:]
        if returns.contains(.data) {
            guard let value else { throw KeychainError(errSecDataNotAvailable) }
            if returns == .data { return value as NSData }
            parts["v_Data"] = value as NSData
        }
        if returns.contains(.persistentReference) {
            parts["v_PersistentRef"] = item.reference.data as NSData
        }
        if returns.contains(.reference) {
            switch item.record.itemClass {
            case .key, .certificate:
                parts["v_Ref"] = try ItemReferences.object(for: item, value, request.boundContext)
            case .genericPassword, .internetPassword:
                if returns == .reference { try checkObject(of: item.record) }
            }
        }
        if returns.contains(.attributes) {
            parts.merge(KeychainResult.attributes(of: item)) { own, _ in own }
            return parts as NSDictionary
        }
        // What was asked for decides, not what there is of it: a program casts the result to what it expects.
        return returns.rawValue.nonzeroBitCount <= 1 ? parts.values.first : parts as NSDictionary
    }

    /// Whether the value is needed for an object, which is then made in this process.
    private func makesObject(of item: KeychainItem) -> Bool {
        request.returns.contains(.reference)
            && (item.record.itemClass == .key || item.record.itemClass == .certificate)
    }

    /// The value, as far as it is wanted; the owner is asked for it where it needs him.
    private func value(of item: KeychainItem) throws(KeychainError) -> Value {
        let isWanted = request.returns.contains(.data) || makesObject(of: item)
        switch item.contents {
        case .sealed:
            guard isWanted else { return .known(nil) }
            guard let value = try store.soundValue(of: item) else { return .dead }
            return .known(value)
        case .secret(let sealed):
            guard isWanted else { return .known(nil) }
            switch try values.open(sealed) {
            case .value(let value): return .known(value)
            case .dead: return .dead
            }
        case .key: return .known(nil)
        }
    }

    /// An item's attributes, with the keys that queries have.
    static func attributes(of item: KeychainItem) -> [String: AnyObject] {
        let record = item.record
        var attributes = record.attributes.mapValues(\.object)
        attributes["class"] = record.itemClass.rawValue as NSString
        attributes["agrp"] = record.accessGroup as NSString
        attributes["pdmn"] = record.accessible as NSString
        attributes["accc"] = record.protection
        attributes["sync"] = NSNumber(value: record.isSynchronizable ? 1 : 0)
        return attributes
    }
}
