// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// The strength of a touch: the conditions it met, or must meet, in addition to matching an enrolled finger.
///
/// The machine's required strength is set in `/etc/whorl/whorld.conf`, and an item's in its ``AccessControl``; a touch
/// must meet both. Whorl's service enforces this before it lets the TPM unlock an item. The TPM itself knows only that
/// a finger matched.
public struct TouchStrength: Sendable, Hashable {
    /// The reader that was touched, or that must be; `nil` stands for any reader.
    public var reader: ReaderID?
    /// Whether the reader itself compared the finger with the prints that it stores ("match on chip").
    public var isMatchedOnChip: Bool
    /// Whether two different fingers matched, one after the other.
    public var hasTwoFingers: Bool
    /// Whether the owner also entered the passcode.
    public var hasPasscode: Bool

    /// Any enrolled finger on any reader.
    public static let any = TouchStrength()

    /// Creates a strength; without arguments, it is ``any``.
    public init(
        reader: ReaderID? = nil,
        isMatchedOnChip: Bool = false,
        hasTwoFingers: Bool = false,
        hasPasscode: Bool = false
    ) {
        self.reader = reader
        self.isMatchedOnChip = isMatchedOnChip
        self.hasTwoFingers = hasTwoFingers
        self.hasPasscode = hasPasscode
    }

    /// Returns whether a touch of this strength meets a required strength.
    public func meets(_ demanded: TouchStrength) -> Bool {
        (demanded.reader == nil || reader == demanded.reader)
            && (isMatchedOnChip || !demanded.isMatchedOnChip)
            && (hasTwoFingers || !demanded.hasTwoFingers)
            && (hasPasscode || !demanded.hasPasscode)
    }
}

/// The text form: `any`, or words joined by `+`, such as `match-on-chip+two-fingers+reader:goodixmoc/27c6:5840/1`.
///
/// The reader comes last because its ID may contain a `+`.
extension TouchStrength {
    private enum Word {
        static let chip = "match-on-chip"
        static let fingers = "two-fingers"
        static let passcode = "passcode"
        static let reader = "reader:"
    }

    /// The maximum length of a reader's ID, in bytes.
    static let longestReader = 200

    /// Parses a strength; returns `nil` if a word is unknown or repeated.
    public init?(_ text: String) {
        self.init()
        guard text != "any" else { return }
        var words = text[...]
        if let pin = text.firstRange(of: Word.reader),
            pin.lowerBound == text.startIndex || text[..<pin.lowerBound].hasSuffix("+")
        {
            guard let reader = ReaderID(pinned: String(text[pin.upperBound...])) else { return nil }
            self.reader = reader
            guard pin.lowerBound > text.startIndex else { return }
            words = text[..<pin.lowerBound].dropLast()
        }
        for word in words.split(separator: "+", omittingEmptySubsequences: false) {
            switch word {
            case Word.chip where !isMatchedOnChip: isMatchedOnChip = true
            case Word.fingers where !hasTwoFingers: hasTwoFingers = true
            case Word.passcode where !hasPasscode: hasPasscode = true
            default: return nil
            }
        }
    }

    /// The text form, as accepted by the initializer.
    public var text: String {
        var words: [String] = []
        if isMatchedOnChip { words.append(Word.chip) }
        if hasTwoFingers { words.append(Word.fingers) }
        if hasPasscode { words.append(Word.passcode) }
        if let reader { words.append(Word.reader + reader.rawValue) }
        return words.isEmpty ? "any" : words.joined(separator: "+")
    }
}

/// The encoding for messages between processes: the text form.
extension TouchStrength: Codable {
    /// Decodes the text form; throws `DecodingError.dataCorrupted` for an unknown word.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let strength = TouchStrength(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "unknown touch strength"
            )
        }
        self = strength
    }

    /// Encodes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension ReaderID {
    /// Creates the ID of a reader that an item or a machine is bound to.
    ///
    /// Returns `nil` unless the text consists of 1 to 200 visible ASCII characters.
    package init?(pinned text: String) {
        let isPlain = text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value < 0x7F }
        guard !text.isEmpty, text.utf8.count <= TouchStrength.longestReader, isPlain else { return nil }
        self.init(rawValue: text)
    }
}
