// SPDX-License-Identifier: Apache-2.0

internal import AuthenticationContext

/// Reads a dictionary: keys as `String` or `NSString`, mixed, values of any type.
///
/// Keys that are no text, unknown keys with an underscore (`m_…`, `r_…`, `u_…`, `v_…`), wrong types and contradictions are
/// `errSecParam`; an attribute that the class does not have is `errSecNoSuchAttr`, as on Apple's systems.
extension KeychainRequest {
    /// - Parameters:
    ///   - dictionary: From the program.
    ///   - purpose: What it is for.
    ///   - known: The class, where another dictionary says it.
    /// - Throws: `errSecParam`, `errSecNoSuchAttr`, and `errSecUnimplemented` for what is not supported.
    init(
        _ dictionary: CFDictionary,
        for purpose: Purpose,
        of known: Class? = nil
    ) throws(KeychainError) {
        itemClass = known
        var attributes: [(String, Any)] = []
        for (key, value) in DictionaryObjects.pairs(dictionary) {
            guard let key = KeychainRequest.text(key) else { throw KeychainError(errSecParam) }
            switch key {
            case "class":
                guard purpose != .change else { throw KeychainError(errSecParam) }
                itemClass = try KeychainRequest.itemClass(value)
            case _ where key.hasPrefix("m_"): try readMatch(key, value, purpose)
            case _ where key.hasPrefix("r_"): try readReturn(key, value, purpose)
            case _ where key.hasPrefix("u_"): try readUse(key, value, purpose)
            case _ where key.hasPrefix("v_"): try readValue(key, value, purpose)
            // There is one keychain, and it is of the kind that this asks for.
            case "nleg": _ = try KeychainRequest.flag(value)
            default: attributes.append((key, value))
            }
        }
        // What is named says its class, by which the attributes are read.
        if itemClass == nil { itemClass = namedClass.map(Class.stored) }
        for (key, value) in attributes { try readAttribute(key, value, purpose) }
        try check(purpose)
    }

    private var namedClass: ItemClass? {
        persistentReference?.itemClass ?? reference.map { type(of: $0).itemClass }
    }

    private static func text(_ object: Any) -> String? {
        DictionaryObjects.text(object) ?? (object as? AnyHashable)?.base as? String
    }

    private static func flag(_ object: Any) throws(KeychainError) -> Bool {
        guard let number = ItemClass.Form.number(object) else { throw KeychainError(errSecParam) }
        return number != 0
    }

    private static func itemClass(_ value: Any) throws(KeychainError) -> Class {
        guard let text = DictionaryObjects.text(value) else { throw KeychainError(errSecParam) }
        if text == "idnt" { return .identity }
        guard let stored = ItemClass(rawValue: text) else { throw KeychainError(errSecParam) }
        return .stored(stored)
    }

    // MARK: - Keys of each kind

    private mutating func readMatch(_ key: String, _ value: Any, _ purpose: Purpose) throws(KeychainError) {
        guard purpose != .add, purpose != .change else { throw KeychainError(errSecParam) }
        switch key {
        case "m_Limit": limit = try KeychainRequest.limit(value)
        case "m_CaseInsensitive", "m_DiacriticInsensitive", "m_WidthInsensitive":
            _ = try KeychainRequest.flag(value)
        case "m_SearchList": break
        case "m_TrustedOnly":
            guard try !KeychainRequest.flag(value) else { throw KeychainError(errSecUnimplemented) }
        case "m_Policy", "m_ItemList", "m_Issuers", "m_EmailAddressIfPresent", "m_SubjectContains",
            "m_SubjectStartsWith", "m_SubjectEndsWith", "m_SubjectWholeString", "m_ValidOnDate":
            throw KeychainError(errSecUnimplemented)
        default: throw KeychainError(errSecParam)
        }
    }

    private static func limit(_ value: Any) throws(KeychainError) -> Int {
        switch DictionaryObjects.text(value) {
        case "m_LimitOne"?: return 1
        case "m_LimitAll"?: return .max
        case _?: throw KeychainError(errSecParam)
        case nil:
            guard let number = ItemClass.Form.number(value), number > 0 else {
                throw KeychainError(errSecParam)
            }
            return Int(number)
        }
    }

    private mutating func readReturn(_ key: String, _ value: Any, _ purpose: Purpose) throws(KeychainError) {
        let kind: Returns =
            switch key {
            case "r_Data": .data
            case "r_Attributes": .attributes
            case "r_Ref": .reference
            case "r_PersistentRef": .persistentReference
            default: throw KeychainError(errSecParam)
            }
        guard try KeychainRequest.flag(value) else { return }
        switch purpose {
        case .add, .copy: returns.insert(kind)
        // A query that was made for reading deletes as well.
        case .delete: break
        case .select, .change: throw KeychainError(errSecParam)
        }
    }

    private mutating func readUse(_ key: String, _ value: Any, _ purpose: Purpose) throws(KeychainError) {
        guard purpose != .change else { throw KeychainError(errSecNoSuchAttr) }
        switch key {
        case "u_AuthCtx":
            guard let holder = value as? any ContextHolder else { throw KeychainError(errSecParam) }
            boundContext = KeyContext(holder)
        case "u_AuthUI":
            switch value as? String {
            case "u_AuthUIA"?: break
            case "u_AuthUIF"?: interface = .fail
            case "u_AuthUIS"? where purpose == .copy: interface = .skip
            default: throw KeychainError(errSecParam)
            }
        case "u_NoAuthUI": if try KeychainRequest.flag(value), interface == .allow { interface = .fail }
        case "u_OpPrompt":
            guard let text = value as? String else { throw KeychainError(errSecParam) }
            prompt = text
        case "u_Keychain": break
        case "u_ItemList": throw KeychainError(errSecUnimplemented)
        default: throw KeychainError(errSecParam)
        }
    }

    private mutating func readValue(_ key: String, _ value: Any, _ purpose: Purpose) throws(KeychainError) {
        switch key {
        case "v_Data":
            guard let data = value as? Data else { throw KeychainError(errSecParam) }
            // A query may be the dictionary that the item was added with: nothing is found by its value.
            guard purpose == .add || purpose == .change else { return }
            guard data.count <= KeychainRequest.longestValue else { throw KeychainError(errSecParam) }
            self.value = data
        case "v_Ref":
            guard purpose != .change, let object = value as? any ItemReference else {
                throw KeychainError(errSecParam)
            }
            reference = object
        case "v_PersistentRef":
            guard purpose != .add, purpose != .change, let data = value as? Data,
                let named = PersistentReference(data)
            else { throw KeychainError(errSecParam) }
            persistentReference = named
        default: throw KeychainError(errSecParam)
        }
    }

    private mutating func readAttribute(_ key: String, _ value: Any, _ purpose: Purpose) throws(KeychainError)
    {
        switch key {
        case "agrp":
            guard case .text(let group) = try ItemClass.Form.text.value(value) else { return }
            accessGroup = group
        case "pdmn":
            guard let text = DictionaryObjects.text(value), accessibleValues.contains(text) else {
                throw KeychainError(errSecParam)
            }
            accessible = text
        case "accc":
            guard let control = value as? SecAccessControl else { throw KeychainError(errSecParam) }
            accessControl = control
        case "sync": synchronizable = try KeychainRequest.synchronizable(value, purpose)
        case "acls": throw KeychainError(errSecUnimplemented)
        default: try readOwn(key, value, purpose)
        }
    }

    private mutating func readOwn(_ key: String, _ value: Any, _ purpose: Purpose) throws(KeychainError) {
        let form: ItemClass.Form?
        switch itemClass {
        case .stored(let stored): form = stored.forms[key]
        // The class comes with the other dictionary: it is looked at again then.
        case nil: form = ItemClass.allCases.lazy.compactMap { $0.forms[key] }.first
        case .identity: form = ItemClass.key.forms[key] ?? ItemClass.certificate.forms[key]
        }
        guard let form else { throw KeychainError(errSecNoSuchAttr) }
        attributes[key] = try form.value(value)
    }

    private static func synchronizable(
        _ value: Any,
        _ purpose: Purpose
    ) throws(KeychainError) -> Synchronizable {
        if let text = value as? String {
            guard text == "syna", purpose != .add, purpose != .change else {
                throw KeychainError(errSecParam)
            }
            return .any
        }
        return try flag(value) ? .yes : .no
    }

    // MARK: - The whole

    private func check(_ purpose: Purpose) throws(KeychainError) {
        if let persistentReference, case .stored(let stored)? = itemClass,
            stored != persistentReference.itemClass
        {
            throw KeychainError(errSecParam)
        }
        if let reference, let itemClass, itemClass != .stored(type(of: reference).itemClass) {
            throw KeychainError(errSecParam)
        }
        switch purpose {
        case .change: break
        case .add, .copy, .delete, .select:
            guard itemClass != nil else { throw KeychainError(errSecParam) }
        }
        // To delete or to change the first of several is no intention that anybody has.
        if purpose == .delete || purpose == .select {
            guard limit == nil || limit == .max else { throw KeychainError(errSecParam) }
        }
        if purpose == .add || purpose == .change { try checkProtection() }
    }

    /// What opens an item must not contradict itself.
    func checkProtection() throws(KeychainError) {
        if let accessControl, let accessible, accessControl.protection != accessible {
            throw KeychainError(errSecParam)
        }
        guard synchronizable == .yes, accessControl != nil || accessible != nil else { return }
        guard protection.maySynchronize else { throw KeychainError(errSecParam) }
    }
}

extension SecAccessControl {
    /// Whether an item of this kind could leave the device: not where somebody must show something, nor where its name
    /// says "this device only".
    var maySynchronize: Bool { !isConstrained && !protection.hasSuffix("u") }
}
