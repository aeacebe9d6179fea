// SPDX-License-Identifier: Apache-2.0

internal import CWhorlGLib

/// The content of a file in GLib's key file format, which consists of groups of keys with values.
///
/// If a key appears twice in a group, the last one counts, as usual for this format.
package struct KeyFile: Sendable, Hashable {
    /// A key and its value.
    package struct Entry: Sendable, Hashable {
        /// The group's name, without brackets.
        package let group: String
        /// The key's name.
        package let key: String
        /// The value as written, without surrounding white space.
        package let value: String
    }

    /// A parsing error, with a text that includes the line with the invalid syntax.
    package struct Fault: Error, Sendable, Hashable {
        package let text: String

        package init(_ text: String) { self.text = text }
    }

    /// The keys and their values, in file order.
    package let entries: [Entry]
    /// The names of all groups, including those without keys.
    package let groups: [String]

    /// Parses the content of a file.
    ///
    /// - Throws: An error if the bytes are not UTF-8 or contain a zero, or if a line is not a group, a key, a comment
    ///   or empty.
    package init(parsing bytes: [UInt8]) throws(Fault) {
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw Fault("It is not valid UTF-8 text.")
        }
        guard let file = g_key_file_new() else { throw Fault("There is not enough memory.") }
        defer { g_key_file_free(file) }
        var error: UnsafeMutablePointer<GError>?
        guard
            bytes.isEmpty
                || g_key_file_load_from_data(file, text, gsize(bytes.count), G_KEY_FILE_NONE, &error) != 0
        else { throw Fault(Self.words(of: error)) }
        groups = Self.strings(g_key_file_get_groups(file, nil))
        var entries: [Entry] = []
        for group in groups {
            for key in Self.strings(g_key_file_get_keys(file, group, nil, nil)) {
                guard let value = g_key_file_get_value(file, group, key, nil) else { continue }
                entries.append(Entry(group: group, key: key, value: String(cString: value)))
                g_free(value)
            }
        }
        self.entries = entries
    }

    private static func words(of error: UnsafeMutablePointer<GError>?) -> String {
        guard let error else { return "It is not a key file." }
        defer { g_error_free(error) }
        return error.pointee.message.map { String(cString: $0) + "." } ?? "It is not a key file."
    }

    /// Converts and frees a list of strings that ends with a null pointer.
    private static func strings(
        _ list: UnsafeMutablePointer<UnsafeMutablePointer<gchar>?>?
    ) -> [String] {
        guard let list else { return [] }
        defer { g_strfreev(list) }
        var strings: [String] = []
        while let next = list[strings.count] { strings.append(String(cString: next)) }
        return strings
    }
}
