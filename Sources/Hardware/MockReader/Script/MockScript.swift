// SPDX-License-Identifier: Apache-2.0

internal import WhorlFingerprint

/// A script for a ``MockReader``, which consists of settings followed by steps.
///
/// Steps are separated by commas, semicolons or line breaks. Spaces around steps, empty steps and comments are ignored.
/// A comment starts with a `#` at the start of a step and ends with the line. Case does not matter.
///
///     stages=3, touch right-index-finger*3, retry:too-short, (no-match, delay:250ms)*2, match
///
/// | step | what happens |
/// |---|---|
/// | `touch FINGER` | this finger touches the sensor: `right-index-finger`, or `right-index` |
/// | `match` | the expected finger touches the sensor (see ``MockFinger/expected``) |
/// | `no-match` | a stranger's finger touches the sensor |
/// | `retry:REASON` | a finger touches the sensor and cannot be read: `too-short`, `center-finger`, `remove-finger`, `too-fast`, `general` |
/// | `delay:250ms`, `delay:2s` | nothing, for this long (at most an hour) |
/// | `unplug` | the reader is unplugged; `delay` and `plug` immediately after it run on their own |
/// | `plug` | the reader is plugged in again |
/// | `busy` | another program is using the reader (`inUse`); also when it is opened |
/// | `permission-denied` | the user has no permission to open the reader; also when it is opened |
/// | `storage-full`, `duplicate`, `too-hot`, `malfunction` | the operation fails with this error |
/// | `lie:index`, `lie:stranger` | a match with a print outside the gallery (see ``MockLie``) |
/// | `hang` | nothing, until the operation is cancelled |
/// | `STEP*N`, `(STEPS)*N`, `repeat:N(STEPS)` | the same N times |
///
/// | setting, before the first step | meaning | default |
/// |---|---|---|
/// | `stages=N` | good presentations for one enrollment, 1 to 50 | 5 |
/// | `storage=host`, `storage=reader` | where templates are stored and compared | `host` |
/// | `storage-file=PATH` | keeps the prints of a `storage=reader` for the next process | forgotten when the process ends |
/// | `features=A+B` | the names shown by `whorl devices --json`, joined with `+`, or `none` | the usual ones for such a reader |
/// | `scan=press`, `scan=swipe` | how the finger is presented | `press` |
/// | `name=TEXT`, `id=TEXT` | the reader's name and identity | `Mock reader`, `mock-0` |
/// | `connected=no` | the reader is not plugged in at the start | `yes` |
/// | `then=wait`, `then=match`, `then=no-match` | what happens at the end of the script | `wait` |
///
/// Each operation continues at the step where the previous one ended. A script is limited to 64 KiB, and to 65,536
/// steps once repetitions are expanded.
public struct MockScript: Sendable, Hashable {
    /// The reader's properties.
    public var settings: MockSettings
    /// The steps, in order.
    public var steps: [MockStep]

    /// Creates a script.
    public init(settings: MockSettings = MockSettings(), steps: [MockStep] = []) {
        self.settings = settings
        self.steps = steps
    }

    /// Parses a script.
    ///
    /// - Parameter text: The script, at most 64 KiB long, or `@PATH` to read it from a file.
    /// - Throws: An error with the location of the mistake or, if the text is empty, an error that summarizes the
    ///   syntax.
    public init(parsing text: String) throws(MockScriptError) {
        let source = try MockScript.load(text)
        var parser = try MockScriptParser(source)
        self = try parser.parse()
    }

    /// Returns the script contained in a reader name of the form `mock:SCRIPT`, as used in WHORL_READER.
    ///
    /// - Parameter name: The name of a reader.
    /// - Returns: The script, or `nil` if the name does not belong to a mock.
    /// - Throws: The errors of ``init(parsing:)``, and an error for the bare name `mock`, which has no script.
    public static func named(_ name: String) throws(MockScriptError) -> MockScript? {
        if name == "mock" { return try MockScript(parsing: "") }
        guard name.hasPrefix("mock:") else { return nil }
        return try MockScript(parsing: String(name.dropFirst("mock:".count)))
    }

    /// The syntax in one paragraph, for error messages.
    public static let summary = """
        Write steps with commas between them, such as "stages=1,touch right-index-finger,no-match,match". \
        Steps: \(MockScriptParser.stepWords.joined(separator: ", ")); a step may end in *N. \
        Settings come first: \(MockScriptParser.settingWords.map { $0 + "=" }.joined(separator: ", ")). \
        @PATH reads the script from a file.
        """

    /// The maximum size of a script, in bytes.
    static let maximumBytes = 64 << 10
    /// The maximum number of steps once repetitions are expanded.
    static let maximumSteps = 1 << 16

    private static func load(_ text: String) throws(MockScriptError) -> String {
        guard text.hasPrefix("@") else { return text }
        let path = String(text.dropFirst())
        do {
            return try MockFile.read(path, limit: maximumBytes)
        } catch {
            throw MockScriptError(found: path, expected: "a file that can be read (\(error.reason))")
        }
    }
}

extension MockScript: CustomStringConvertible {
    /// The script as text, with the settings that differ from the defaults followed by the steps.
    public var description: String {
        let usual = MockSettings()
        var items: [String] = []
        if settings.stages != usual.stages { items.append("stages=\(settings.stages)") }
        if settings.storage != usual.storage { items.append("storage=\(settings.storage.rawValue)") }
        if let file = settings.storageFile { items.append("storage-file=\(file)") }
        if let features = settings.features {
            items.append(
                "features=" + (features.names.isEmpty ? "none" : features.names.joined(separator: "+"))
            )
        }
        if settings.scanType != usual.scanType { items.append("scan=\(settings.scanType.rawValue)") }
        if settings.name != usual.name { items.append("name=\(settings.name)") }
        if settings.id != usual.id { items.append("id=\(settings.id)") }
        if !settings.isConnected { items.append("connected=no") }
        if settings.afterScript != usual.afterScript {
            items.append("then=\(settings.afterScript.rawValue.kebabCased)")
        }
        return (items + steps.map(\.description)).joined(separator: ",")
    }
}

/// An error in the text of a script for a ``MockReader``.
public struct MockScriptError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line that contains the mistake, counted from 1.
    public let line: Int
    /// The position of the mistake in that line in characters, counted from 1.
    public let column: Int
    /// The text at that location, truncated to 40 characters.
    ///
    /// This text is untrusted input.
    public let found: String
    /// A description of the text that was expected.
    public let expected: String
    /// The word that was probably meant, if a valid one is similar.
    public let suggestion: String?

    /// Creates an error.
    init(line: Int = 1, column: Int = 1, found: String = "", expected: String, suggestion: String? = nil) {
        self.line = line
        self.column = column
        self.found = found.count > 40 ? found.prefix(39) + "…" : found
        self.expected = expected
        self.suggestion = suggestion
    }

    /// A sentence that describes the error and its location.
    public var message: String {
        let place = found.isEmpty ? "" : ", found \"\(found)\""
        return
            "The mock script is invalid at line \(line), character \(column): expected \(expected)\(place)."
    }

    /// A sentence that explains how to fix the error.
    public var recovery: String {
        suggestion.map { "Did you mean \"\($0)\"?" } ?? MockScript.summary
    }

    /// The message followed by the recovery.
    public var description: String { message + " " + recovery }
}
