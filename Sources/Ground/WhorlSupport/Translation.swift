// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The translations of user-visible sentences (`po/`), with the C library's gettext.
///
/// Sentences stay in English until they are shown. Errors, records and messages between programs contain the English
/// source text, and the code that shows it requests the translation. A program that has not called ``begin()`` uses
/// English.
public enum Translations {
    /// The gettext domain of the catalogs.
    static let domain = "whorl"

    /// Enables translation into the language of the user's environment (`LANGUAGE`, `LC_ALL`, `LC_MESSAGES`, `LANG`).
    ///
    /// Call it at the start of a program, before any threads exist, because `setlocale(3)` is not thread-safe. The
    /// catalogs are in `share/locale` next to the program's `bin` or `libexec` folder, where `make install` puts them.
    public static func begin() {
        // If a program has more privileges than its user, do not trust the variables.
        guard !ThisProcess.isElevated else { return }
        setlocale(LC_CTYPE, "")
        // A terminal that supports only ASCII uses English.
        guard let codes = nl_langinfo(nl_item(CODESET)), String(cString: codes) == "UTF-8" else { return }
        setlocale(LC_MESSAGES, "")
        _ = GetText.bindCodes?(domain, "UTF-8")
        guard let program = realpath("/proc/self/exe", nil) else { return }
        defer { free(program) }
        var folder = String(cString: program).split(separator: "/").dropLast()
        while let last = folder.popLast() {
            guard ["bin", "libexec", "debug", "release"].contains(last) else { continue }
            _ = GetText.bind?(domain, "/" + (folder + ["share", "locale"]).joined(separator: "/"))
            return
        }
    }
}

/// Returns a sentence in the user's language.
///
/// - Parameter sentence: One of Whorl's sentences in English, or any other text.
/// - Returns: The translation, or the text itself if it is not translated.
public func translated(_ sentence: String) -> String {
    // gettext stores a catalog's metadata under the empty text.
    guard !sentence.isEmpty else { return sentence }
    let found = sentence.withCString { sentence -> String? in
        // Without a translation, it returns its argument, which C cuts off at the first zero.
        guard let found = GetText.one?(Translations.domain, sentence), found != sentence else { return nil }
        return String(cString: found)
    }
    return found ?? sentence
}

/// Returns a sentence about a number in the user's language, replacing `%d` with the number.
///
/// - Parameters:
///   - one: The English sentence for one.
///   - many: The English sentence for any other number.
///   - count: The number, which selects among the language's plural forms.
/// - Returns: The translation, or the English sentence if it is not translated.
public func translated(_ one: String, _ many: String, count: Int) -> String {
    let form = one.withCString { one in
        many.withCString { many in
            GetText.many?(Translations.domain, one, many, CUnsignedLong(count.magnitude)).map {
                String(cString: $0)
            }
        }
    }
    return filled(form ?? (count == 1 ? one : many), ["%d": String(count)])
}

/// Returns a sentence in the user's language, replacing `%1$@`, `%2$@` and so on with words.
///
/// - Parameters:
///   - sentence: One of Whorl's sentences in English.
///   - words: The words, in the order of the placeholders' numbers.
/// - Returns: The translation, or the English sentence if it is not translated.
public func translated(_ sentence: String, with words: String...) -> String {
    filled(
        translated(sentence),
        zip(1..., words).reduce(into: [:]) { places, word in places["%\(word.0)$@"] = word.1 }
    )
}

/// Replaces the placeholders of a sentence in one pass, so that a placeholder within a word is not replaced.
private func filled(_ sentence: String, _ places: [String: String]) -> String {
    var rest = Substring(sentence)
    var filled = ""
    while let percent = rest.firstIndex(of: "%") {
        filled += rest[..<percent]
        rest = rest[percent...]
        let place = places.first { rest.hasPrefix($0.key) }
        filled += place?.value ?? "%"
        rest = rest.dropFirst(place?.key.count ?? 1)
    }
    return filled + rest
}

/// The functions of `libintl.h`, which every GNU C library has.
private enum GetText {
    typealias Text = UnsafePointer<CChar>

    static let bind = gnuFunction("bindtextdomain", as: (@convention(c) (Text, Text) -> Text?).self)
    static let bindCodes = gnuFunction(
        "bind_textdomain_codeset",
        as: (@convention(c) (Text, Text) -> Text?).self
    )
    static let one = gnuFunction("dgettext", as: (@convention(c) (Text, Text) -> Text?).self)
    static let many = gnuFunction(
        "dngettext",
        as: (@convention(c) (Text, Text, Text, CUnsignedLong) -> Text?).self
    )
}

extension Duration {
    /// The duration as words in a sentence, rounded up, such as `5 minutes`.
    package var spoken: String {
        let (count, unit) = rounded
        return "\(count) \(unit.rawValue)\(count == 1 ? "" : "s")"
    }

    /// The duration as words in the user's language, rounded up.
    package var translated: String {
        let (count, unit) = rounded
        return switch unit {
        case .second: WhorlSupport.translated("%d second", "%d seconds", count: count)
        case .minute: WhorlSupport.translated("%d minute", "%d minutes", count: count)
        case .hour: WhorlSupport.translated("%d hour", "%d hours", count: count)
        }
    }

    private enum Unit: String { case second, minute, hour }

    private var rounded: (count: Int, unit: Unit) {
        let seconds = Int(max(1, components.seconds + (components.attoseconds > 0 ? 1 : 0)))
        return switch seconds {
        case ..<120: (seconds, .second)
        case ..<7200: ((seconds + 59) / 60, .minute)
        default: ((seconds + 3599) / 3600, .hour)
        }
    }
}
