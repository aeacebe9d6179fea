// SPDX-License-Identifier: Apache-2.0

/// A program's dictionary that describes a key.
///
/// Parsing is strict: a value of the wrong type is an error and is not ignored.
struct KeyParameters {
    private var values: [String: Any]

    init(_ dictionary: CFDictionary) {
        var values: [String: Any] = [:]
        for (key, value) in dictionary {
            guard let name = key as? String ?? (key as? NSString).map(String.init(describing:)) else {
                continue
            }
            values[name] = value
        }
        self.values = values
    }

    /// Returns these parameters merged with those in the nested dictionary, which take precedence.
    func taking(_ key: CFString) throws(NSError) -> KeyParameters {
        guard let inner = try nested(key) else { return self }
        var all = self
        all.values.merge(inner.values) { _, inner in inner }
        return all
    }

    /// Returns only the parameters of the nested dictionary, or `nil` if the key is missing.
    func nested(_ key: CFString) throws(NSError) -> KeyParameters? {
        guard let value = self[key] else { return nil }
        guard let dictionary = value as? NSDictionary ?? (value as? [String: Any]).map({ $0 as NSDictionary })
        else { throw .wrong(key) }
        return KeyParameters(dictionary)
    }

    func text(_ key: CFString) throws(NSError) -> String? {
        guard let value = self[key] else { return nil }
        if let text = value as? String ?? (value as? NSString).map(String.init(describing:)) { return text }
        // Apple's constants for key types are numbers written as strings, and programs use both forms.
        if let number = value as? NSNumber { return number.stringValue }
        throw .wrong(key)
    }

    func number(_ key: CFString) throws(NSError) -> Int? { try number(String(describing: key)) }

    func number(_ name: String) throws(NSError) -> Int? {
        guard let value = values[name] else { return nil }
        if let number = value as? Int ?? (value as? NSNumber)?.intValue { return number }
        if let text = value as? String, let number = Int(text) { return number }
        throw .wrong(name as NSString)
    }

    func data(_ key: CFString) throws(NSError) -> Data? { try data(String(describing: key)) }

    func data(_ name: String) throws(NSError) -> Data? {
        guard let value = values[name] else { return nil }
        guard let data = value as? Data ?? (value as? NSData).map({ Data(referencing: $0) }) else {
            throw .wrong(name as NSString)
        }
        return data
    }

    func flag(_ key: CFString) throws(NSError) -> Bool? {
        guard let value = self[key] else { return nil }
        guard let flag = value as? Bool ?? (value as? NSNumber)?.boolValue ?? (value as? CFBoolean)?.value
        else { throw .wrong(key) }
        return flag
    }

    /// Returns the values of these keys, unchanged.
    func only(_ keys: [CFString]) -> [String: Any] {
        let names = Set(keys.map(String.init(describing:)))
        return values.filter { names.contains($0.key) }
    }

    subscript(key: CFString) -> Any? { values[String(describing: key)] }
}

extension NSError {
    fileprivate static func wrong(_ key: CFString) -> NSError {
        .status(errSecParam, "the value under \"\(key)\" has the wrong type")
    }
}
