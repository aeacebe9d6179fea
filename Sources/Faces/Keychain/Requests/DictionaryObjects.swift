// SPDX-License-Identifier: Apache-2.0

/// Reads a program's dictionary without the detours of Foundation's bridging: a query is read at each call.
enum DictionaryObjects {
    /// All keys with their values.
    static func pairs(_ dictionary: CFDictionary) -> Zip2Sequence<[Any], [Any]> {
        // Foundation's own classes list keys and values in one order, in a fraction of the time of their iterator, which
        // looks each key up again. What another class does is not known.
        guard
            type(of: dictionary) == NSDictionary.self || type(of: dictionary) == NSMutableDictionary.self
        else {
            let pairs = dictionary.map { ($0.key, $0.value) }
            return zip(pairs.map { $0.0 }, pairs.map { $0.1 })
        }
        return zip(dictionary.allKeys, dictionary.allValues)
    }

    /// The text that an object is; `nil` for what is none.
    static func text(_ object: Any) -> String? {
        // Texts lie in dictionaries as `NSString`; to ask for that class is a comparison, to ask for `String` is a search
        // for a conversion.
        if let text = object as? NSString { return text as String }
        return object as? String
    }
}
