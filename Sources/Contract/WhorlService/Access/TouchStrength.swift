// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// The strength of a touch, beyond that an enrolled finger matched: what is demanded of it, or what it had.
///
/// A machine demands a strength in `/etc/whorl/whorld.conf`, an item in its ``AccessControl``; both must be met. Whorl's
/// service enforces it before it lets the chip open an item. The chip itself knows only that a finger matched.
public struct TouchStrength: Sendable, Hashable {
    /// The reader of the touch; `nil` demands no particular one.
    public var reader: ReaderID?
    /// Whether the reader itself compared the finger with prints that it keeps ("match on chip").
    public var isMatchedOnChip: Bool
    /// Whether two different fingers matched, one after the other.
    public var hasTwoFingers: Bool
    /// Whether the owner's passcode was typed as well.
    public var hasPasscode: Bool

    /// Any enrolled finger on any reader.
    public static let any = TouchStrength()

    /// Makes a strength; without arguments it is ``any``.
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

    /// Returns whether this strength, as a touch had it, is enough for another one that is demanded.
    public func meets(_ demanded: TouchStrength) -> Bool {
        (demanded.reader == nil || reader == demanded.reader)
            && (isMatchedOnChip || !demanded.isMatchedOnChip)
            && (hasTwoFingers || !demanded.hasTwoFingers)
            && (hasPasscode || !demanded.hasPasscode)
    }
}

/// The text that people and programs write: `any`, or words with `+` between them, such as
/// `match-on-chip+two-fingers+reader:goodixmoc/27c6:5840/1`. The reader comes last, since its id may contain a `+`.
extension TouchStrength {
    private enum Word {
        static let chip = "match-on-chip"
        static let fingers = "two-fingers"
        static let passcode = "passcode"
        static let reader = "reader:"
    }

    /// The length in bytes up to which a reader's id is taken.
    static let longestReader = 200

    /// Reads a strength; `nil` for an unknown word, or one that comes twice.
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

    /// The text from which the same strength can be read.
    public var text: String {
        var words: [String] = []
        if isMatchedOnChip { words.append(Word.chip) }
        if hasTwoFingers { words.append(Word.fingers) }
        if hasPasscode { words.append(Word.passcode) }
        if let reader { words.append(Word.reader + reader.rawValue) }
        return words.isEmpty ? "any" : words.joined(separator: "+")
    }
}

/// The form between processes, which is the text.
extension TouchStrength: Codable {
    /// Reads the text; an unknown word throws `DecodingError.dataCorrupted`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let strength = TouchStrength(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "unknown strength of a touch"
            )
        }
        self = strength
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension ReaderID {
    /// Makes the id of a reader to which an item or a machine is bound; `nil` for a text that is no such id.
    ///
    /// It is visible ASCII of at most 200 bytes.
    package init?(pinned text: String) {
        let isPlain = text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value < 0x7F }
        guard !text.isEmpty, text.utf8.count <= TouchStrength.longestReader, isPlain else { return nil }
        self.init(rawValue: text)
    }
}
