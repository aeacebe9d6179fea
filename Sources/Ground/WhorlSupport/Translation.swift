// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The translations of the sentences that people see (`po/`), by gettext of the C library.
///
/// A sentence is English until it is shown: errors, records and messages between programs have it as it stands in the
/// source, and what shows it asks for the translation. A program that has not begun gets English.
public enum Translations {
    /// gettext's name of the catalogs.
    static let domain = "whorl"

    /// Begins to translate into the language that the user's variables name (`LANGUAGE`, `LC_ALL`, `LC_MESSAGES`, `LANG`).
    ///
    /// It is for the beginning of a program, before there are threads: `setlocale(3)` is not safe beside them. The catalogs
    /// are in `share/locale` beside the folder `bin` or `libexec` of the program, as `make install` lays them.
    public static func begin() {
        // The user who starts a program with more rights chooses the variables.
        guard !ThisProcess.isElevated else { return }
        setlocale(LC_CTYPE, "")
        // A terminal that shows ASCII alone gets English.
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
/// - Parameter sentence: A sentence of Whorl's in English, or any other text.
/// - Returns: The translation; without one the text itself, whole.
public func translated(_ sentence: String) -> String {
    // gettext has a catalog's own data under the empty text.
    guard !sentence.isEmpty else { return sentence }
    let found = sentence.withCString { sentence -> String? in
        // Without a translation it returns what it got, in which C sees the text up to the first zero only.
        guard let found = GetText.one?(Translations.domain, sentence), found != sentence else { return nil }
        return String(cString: found)
    }
    return found ?? sentence
}

/// Returns a sentence about a number in the user's language, with the number in the place of `%d`.
///
/// - Parameters:
///   - one: The sentence for one, in English.
///   - many: The sentence for every other number, in English.
///   - count: The number, which decides among the forms that the language has.
/// - Returns: The translation; without one the English sentence.
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

/// Returns a sentence in the user's language, with words in the places of `%1$@`, `%2$@` and so on.
///
/// - Parameters:
///   - sentence: A sentence of Whorl's in English.
///   - words: The words for the places, in the order of their numbers.
/// - Returns: The translation; without one the English sentence.
public func translated(_ sentence: String, with words: String...) -> String {
    filled(
        translated(sentence),
        zip(1..., words).reduce(into: [:]) { places, word in places["%\(word.0)$@"] = word.1 }
    )
}

/// Puts words in the places of a sentence, in one pass: what a word says is no place.
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

    /// The same in the user's language.
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
