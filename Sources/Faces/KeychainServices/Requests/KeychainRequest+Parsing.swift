// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
internal import WhorlService

/// Parsing of a dictionary, in which keys are `String`, `NSString` or a mixture of both, and values may have any type.
///
/// As on Apple's systems (`query_applier` in SecDbQuery.c), the form of a key determines its kind. Keys of four letters
/// are attributes. For all other keys, the first letter determines the kind. In the second dictionary of an update, all
/// keys except that of the value are attributes.
extension KeychainRequest {
    /// - Parameters:
    ///   - dictionary: The dictionary from the program.
    ///   - purpose: The purpose of the dictionary.
    ///   - known: The class, if it is already known from another dictionary.
    /// - Throws: `errSecParam` for keys of an unknown kind, for values of the wrong type, and for contradictions;
    ///   `errSecNoSuchClass` for an unknown class; `errSecNoSuchAttr` for an attribute that the class does not have;
    ///   `errSecUnimplemented` for unsupported keys.
    init(
        _ dictionary: CFDictionary,
        for purpose: Purpose,
        of known: Class? = nil
    ) throws(KeychainError) {
        itemClass = known
        var attributes: [(String, Any)] = []
        for (key, value) in DictionaryObjects.pairs(dictionary) {
            let key = try KeychainRequest.key(key)
            if purpose == .change {
                if key == "v_Data" {
                    try readValue(key, value, purpose)
                } else {
                    attributes.append((key, value))
                }
                continue
            }
            switch (key.utf16.count, key.utf8.first.map(UnicodeScalar.init)) {
            case (4, _): attributes.append((key, value))
            case (5, "c"?) where key == "class": itemClass = try KeychainRequest.itemClass(value)
            case (2..., "m"?): try readMatch(key, value, purpose)
            case (2..., "r"?): try readReturn(key, value, purpose)
            case (2..., "u"?): try readUse(key, value, purpose)
            case (2..., "v"?): try readValue(key, value, purpose)
            default: throw KeychainError(errSecParam)
            }
        }
        // A reference determines the class, which is required to parse the attributes.
        if itemClass == nil { itemClass = namedClass }
        for (key, value) in attributes { try readAttribute(key, value, purpose) }
        try check(purpose)
    }

    private var namedClass: Class? {
        if let persistentReference { return persistentReference.requestClass }
        if identity != nil { return .identity }
        return reference.map { .stored(type(of: $0).itemClass) }
    }

    /// - Throws: `errSecNoSuchAttr` for a number, which Apple's systems treat as an unknown attribute.
    private static func key(_ object: Any) throws(KeychainError) -> String {
        if let text = DictionaryObjects.text(object) ?? (object as? AnyHashable)?.base as? String {
            return text
        }
        throw KeychainError(object is NSNumber ? errSecNoSuchAttr : errSecParam)
    }

    static func flag(_ object: Any) throws(KeychainError) -> Bool {
        guard let number = KeychainClass.Form.number(object) else { throw KeychainError(errSecParam) }
        return number != 0
    }

    private static func itemClass(_ value: Any) throws(KeychainError) -> Class {
        guard let text = DictionaryObjects.text(value) else { throw KeychainError(errSecParam) }
        if text == "idnt" { return .identity }
        guard let stored = KeychainClass(rawValue: text) else { throw KeychainError(errSecNoSuchClass) }
        return .stored(stored)
    }

    private mutating func readAttribute(_ key: String, _ value: Any, _ purpose: Purpose) throws(KeychainError)
    {
        switch key {
        case "agrp":
            guard case .text(let group) = try KeychainClass.Form.text.value(value) else { return }
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
        // There is only one keychain. The key decides which limits a query may have.
        case "nleg": requestsDataProtection = (KeychainClass.Form.number(value) ?? 0) != 0
        case "acls": throw KeychainError(errSecUnimplemented)
        default: try readOwn(key, value, purpose)
        }
    }

    private mutating func readOwn(_ key: String, _ value: Any, _ purpose: Purpose) throws(KeychainError) {
        let form: KeychainClass.Form?
        switch itemClass {
        case .stored(let stored): form = stored.forms[key]
        // The other dictionary specifies the class; the attribute is checked again then.
        case nil: form = KeychainClass.allCases.lazy.compactMap { $0.forms[key] }.first
        case .identity: form = KeychainClass.certificate.forms[key] ?? KeychainClass.key.forms[key]
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
}

/// Functions that access a program's dictionary directly.
///
/// Every keychain call parses a dictionary, and Foundation's bridging would make that slow.
enum DictionaryObjects {
    /// Returns all keys with their values.
    static func pairs(_ dictionary: CFDictionary) -> Zip2Sequence<[Any], [Any]> {
        // Foundation's own classes list keys and values in the same order. That is much faster than their iterator,
        // which looks up each key again. Other classes may use a different order.
        guard
            type(of: dictionary) == NSDictionary.self || type(of: dictionary) == NSMutableDictionary.self
        else {
            let pairs = dictionary.map { ($0.key, $0.value) }
            return zip(pairs.map { $0.0 }, pairs.map { $0.1 })
        }
        return zip(dictionary.allKeys, dictionary.allValues)
    }

    /// Returns a copy of the object's bytes, or `nil` if it is not data.
    ///
    /// A cast to `Data` would take 64 ms for 1 MiB, because Foundation for Linux copies byte by byte.
    static func data(_ object: Any) -> Data? {
        guard let data = object as? NSData else { return object as? Data }
        return withExtendedLifetime(data) { Data(bytes: data.bytes, count: data.length) }
    }

    /// Returns the object as a string, or `nil` if it is not one.
    static func text(_ object: Any) -> String? {
        // Dictionaries contain strings as `NSString`. A cast to that class is a comparison; a cast to `String` searches
        // for a conversion.
        if let text = object as? NSString { return text as String }
        return object as? String
    }
}
