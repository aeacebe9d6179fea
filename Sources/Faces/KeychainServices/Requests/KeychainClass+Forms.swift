// SPDX-License-Identifier: Apache-2.0

internal import WhorlService

/// The attributes that each class has in Apple's dictionaries.
extension KeychainClass {
    /// The accepted types of an attribute's value.
    enum Form: Sendable {
        case text
        /// A string, data or a number, as on Apple's systems (`copyBlob` in SecItemServer.c).
        case textOrData
        /// Data. A string is converted to UTF-8.
        case bytes
        case textOrNumber
        case number
        /// A number that Apple's constants represent as a string. It is stored as a string.
        case code
        case flag
        case date
    }

    /// The attributes that items of the class can have, except the access group and the protection.
    var forms: [String: Form] {
        switch self {
        case .genericPassword: KeychainClass.ofGenericPasswords
        case .internetPassword: KeychainClass.ofInternetPasswords
        case .key: KeychainClass.ofKeys
        case .certificate: KeychainClass.ofCertificates
        }
    }

    private static let ofGenericPasswords = merged(
        common,
        password,
        ["svce": .textOrData, "gena": .textOrData]
    )

    private static let ofInternetPasswords = merged(
        common,
        password,
        [
            "sdmn": .textOrData, "srvr": .textOrData, "ptcl": .textOrNumber, "atyp": .textOrNumber,
            "port": .number, "path": .textOrData,
        ]
    )

    private static let ofKeys = merged(
        common,
        [
            "kcls": .code, "klbl": .bytes, "atag": .bytes, "type": .code, "crtr": .textOrNumber,
            "bsiz": .number, "esiz": .number, "sdat": .date, "edat": .date, "tkid": .text,
        ],
        flags("perm priv modi sens asen extr next encr decr drve sign vrfy snrc vyrc wrap unwp")
    )

    private static let ofCertificates = merged(
        common,
        [
            "ctyp": .number, "cenc": .number, "subj": .textOrData, "issr": .textOrData,
            "slnr": .textOrData,
            "skid": .textOrData, "pkhh": .textOrData,
        ]
    )

    private static let common: [String: Form] = [
        "labl": .textOrData, "alis": .textOrData, "cdat": .date, "mdat": .date, "vwht": .text,
    ]

    private static let password: [String: Form] = merged(
        [
            "acct": .textOrData, "desc": .textOrData, "icmt": .textOrData, "crtr": .textOrNumber,
            "type": .textOrNumber,
            "scrp": .number,
        ],
        flags("invi nega cusi")
    )

    private static func flags(_ names: String) -> [String: Form] {
        names.split(separator: " ").reduce(into: [:]) { $0[String($1)] = .flag }
    }

    private static func merged(_ parts: [String: Form]...) -> [String: Form] {
        parts.reduce(into: [:]) { all, part in all.merge(part) { _, new in new } }
    }
}

extension KeychainClass.Form {
    /// The maximum size of an attribute's string or data, in bytes.
    static let longest = 64 << 10

    /// Parses a value from a dictionary.
    ///
    /// - Throws: `errSecParam` for a value that has the wrong type or is larger than 64 KiB.
    func value(_ object: Any) throws(KeychainError) -> AttributeValue {
        let value = try reading(object)
        guard value.size <= KeychainClass.Form.longest else { throw KeychainError(errSecParam) }
        return value
    }

    private func reading(_ object: Any) throws(KeychainError) -> AttributeValue {
        switch self {
        case .text: if let text = DictionaryObjects.text(object) { return .text(text) }
        case .textOrData:
            if let text = DictionaryObjects.text(object) { return .text(text) }
            if let data = DictionaryObjects.data(object) { return .data(data) }
            if let number = KeychainClass.Form.number(object) { return .number(number) }
        case .bytes:
            if let text = DictionaryObjects.text(object) { return .data(Data(text.utf8)) }
            if let data = DictionaryObjects.data(object) { return .data(data) }
        case .textOrNumber:
            if let text = DictionaryObjects.text(object) { return .text(text) }
            if let number = KeychainClass.Form.number(object) { return .number(number) }
        case .number:
            if let number = KeychainClass.Form.number(object) { return .number(number) }
            if let text = DictionaryObjects.text(object), let number = Int64(text) { return .number(number) }
        case .code:
            if let text = DictionaryObjects.text(object) { return .text(text) }
            if let number = KeychainClass.Form.number(object) { return .text(String(number)) }
        case .flag: if let number = KeychainClass.Form.number(object) { return .number(number == 0 ? 0 : 1) }
        case .date: if let date = object as? Date { return .date(date.timeIntervalSince1970) }
        }
        throw KeychainError(errSecParam)
    }

    /// Returns an integer or a Boolean as a number, or `nil` for anything else.
    static func number(_ object: Any) -> Int64? {
        guard let number = object as? NSNumber else { return (object as? CFBoolean).map { $0.value ? 1 : 0 } }
        // Most numbers can be represented exactly as `Double`, and that check is faster.
        if Int64(exactly: number.doubleValue) != nil { return number.int64Value }
        return Int64(exactly: number)
    }
}
