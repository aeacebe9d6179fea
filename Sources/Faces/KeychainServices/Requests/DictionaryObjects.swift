// SPDX-License-Identifier: Apache-2.0

/// Reads a program's dictionary without the cost of Foundation's bridging, since each call reads a query.
enum DictionaryObjects {
    /// Returns all keys with their values.
    static func pairs(_ dictionary: CFDictionary) -> Zip2Sequence<[Any], [Any]> {
        // Foundation's own classes list keys and values in the same order, much faster than their iterator, which looks
        // up each key again. Other classes may not keep that order.
        guard
            type(of: dictionary) == NSDictionary.self || type(of: dictionary) == NSMutableDictionary.self
        else {
            let pairs = dictionary.map { ($0.key, $0.value) }
            return zip(pairs.map { $0.0 }, pairs.map { $0.1 })
        }
        return zip(dictionary.allKeys, dictionary.allValues)
    }

    /// Returns a copy of the object's bytes; `nil` if it is not data.
    ///
    /// Foundation for Linux casts to `Data` byte by byte, which takes 64 ms for 1 MiB.
    static func data(_ object: Any) -> Data? {
        guard let data = object as? NSData else { return object as? Data }
        return withExtendedLifetime(data) { Data(bytes: data.bytes, count: data.length) }
    }

    /// Returns the object as a text; `nil` if it is not one.
    static func text(_ object: Any) -> String? {
        // Dictionaries hold texts as `NSString`; a cast to that class is a comparison, while a cast to `String`
        // searches for a conversion.
        if let text = object as? NSString { return text as String }
        return object as? String
    }
}
