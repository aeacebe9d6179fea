// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A fingerprint template as its reader made it: bytes that only a reader of the same kind can read.
///
/// For a reader that matches on the chip, the bytes are a handle to the template inside the reader. Templates
/// have no `description` that shows them and are not `Codable`: they go to the store, encrypted, and nowhere else.
///
/// The bytes are overwritten with zeros when the last copy of a template ends. What a caller takes out of it is the
/// caller's.
public struct Template: Sendable, Hashable, CustomStringConvertible {
    private let kept: Kept

    /// The serialized template; with libfprint what `fp_print_serialize()` gives, 100 bytes to about 20 kB.
    public var bytes: [UInt8] { kept.bytes.withLock { $0 } }

    /// Wraps bytes that a reader gave.
    public init(bytes: [UInt8]) { kept = Kept(bytes) }

    /// By the bytes.
    public static func == (left: Template, right: Template) -> Bool {
        left.kept === right.kept || left.bytes == right.bytes
    }

    /// By the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

    /// The size only, so that a log line cannot hold a template.
    public var description: String { "Template(\(bytes.count) bytes)" }
}

/// The bytes of one template, however many values share them.
private final class Kept: Sendable {
    let bytes: Mutex<[UInt8]>

    init(_ bytes: [UInt8]) { self.bytes = Mutex(bytes) }

    deinit {
        bytes.withLock { bytes in
            var room = bytes.mutableSpan
            for index in room.indices { room[index] = 0 }
        }
    }
}

/// A template with the name that the store gave it; what a gallery is made of.
public struct GalleryEntry: Sendable, Hashable {
    /// The name of the entry, unique within a gallery.
    public let id: PrintID
    /// The template to compare with.
    public let template: Template

    /// Names a template.
    public init(id: PrintID, template: Template) {
        self.id = id
        self.template = template
    }
}

/// The identity of one enrolled print: 16 random bytes, written as 32 hexadecimal digits.
public struct PrintID: Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
    /// 32 lower-case hexadecimal digits.
    public let description: String

    /// A new identity from the system's random numbers.
    public init() {
        var generator = SystemRandomNumberGenerator()
        self.description = (0..<2).map { _ in PrintID.hex(generator.next()) }.joined()
    }

    /// Takes exactly 32 lower-case hexadecimal digits; anything else is `nil`.
    public init?(_ text: String) {
        guard text.utf8.count == 32,
            text.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
        else { return nil }
        self.description = text
    }

    /// By the text of both.
    public static func < (left: PrintID, right: PrintID) -> Bool { left.description < right.description }

    /// As the 32 digits.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let id = PrintID(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not 32 hexadecimal digits")
            )
        }
        self = id
    }

    /// As the 32 digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    private static func hex(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// The data that a reader stores with a template when it enrolls.
///
/// Readers that match on the chip may store it inside themselves, where another system can read it.
public struct EnrollmentMetadata: Sendable, Hashable, Codable {
    /// The finger that the person says it is; `nil` leaves it out.
    public var finger: Finger?
    /// The name of the profile; `nil` leaves it out.
    public var userName: String?
    /// The date of the enrollment; `nil` leaves it out.
    public var date: CalendarDate?

    /// Describes an enrollment; without arguments the print is bare.
    public init(finger: Finger? = nil, userName: String? = nil, date: CalendarDate? = nil) {
        self.finger = finger
        self.userName = userName
        self.date = date
    }
}

/// A day in the Gregorian calendar.
public struct CalendarDate: Sendable, Hashable, Codable {
    /// The year, 1 to 65535.
    public let year: Int
    /// The month, 1 to 12.
    public let month: Int
    /// The day of the month, 1 to 31.
    public let day: Int

    /// Names a day; whether it exists is the caller's care.
    public init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }
}

/// A template that a reader keeps in its own storage.
public struct StoredPrint: Sendable, Hashable {
    /// The handle; ``FingerprintReader/isSamePrint(_:_:)`` compares it with another.
    public let template: Template
    /// The data stored with it, as far as the reader kept them.
    public let metadata: EnrollmentMetadata

    /// Describes a stored template.
    public init(template: Template, metadata: EnrollmentMetadata) {
        self.template = template
        self.metadata = metadata
    }
}

/// One picture of a finger.
public struct FingerprintImage: Sendable {
    /// Pixels in a row.
    public let width: Int
    /// Rows.
    public let height: Int
    /// `width * height` gray values, row by row from the top, 0 is black.
    public let pixels: [UInt8]

    /// Takes a picture whose number of pixels fits its size; otherwise `nil`.
    public init?(width: Int, height: Int, pixels: [UInt8]) {
        guard width > 0, height > 0, width <= 1 << 14, height <= 1 << 14, pixels.count == width * height
        else { return nil }
        self.width = width
        self.height = height
        self.pixels = pixels
    }
}
