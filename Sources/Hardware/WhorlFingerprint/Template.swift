// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A fingerprint template in the format of its reader, which only readers of the same type can read.
///
/// For a match-on-chip reader, the bytes are a handle to the template inside the reader. A template's `description`
/// does not show its bytes, and it is not `Codable`, because it is only ever written to the store, encrypted.
///
/// The bytes are overwritten with zeros when the last copy of the template is released. The caller is responsible for
/// any bytes that it copies.
public struct Template: Sendable, Hashable, CustomStringConvertible {
    private let kept: Kept

    /// The serialized template.
    ///
    /// For libfprint, this is the output of `fp_print_serialize()`, 100 bytes to about 20 kB.
    public var bytes: [UInt8] { kept.bytes.withLock { $0 } }

    /// Wraps bytes returned by a reader.
    public init(bytes: [UInt8]) { kept = Kept(bytes) }

    /// Compares the bytes of two templates.
    public static func == (left: Template, right: Template) -> Bool {
        left.kept === right.kept || left.bytes == right.bytes
    }

    /// Hashes the template's bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

    /// The size of the template only, so that its bytes never appear in logs.
    public var description: String { "Template(\(bytes.count) bytes)" }
}

/// The bytes of one template, which all its copies share.
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

/// An entry in a gallery, which consists of a template and its name in the store.
public struct GalleryEntry: Sendable, Hashable {
    /// The name of the entry, unique within a gallery.
    public let id: PrintID
    /// The template to compare with.
    public let template: Template

    /// Creates an entry.
    public init(id: PrintID, template: Template) {
        self.id = id
        self.template = template
    }
}

/// The identity of an enrolled print: 16 random bytes, written as 32 hexadecimal digits.
public struct PrintID: Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
    /// The identity as 32 lower-case hexadecimal digits.
    public let description: String

    /// Creates a random identity.
    public init() {
        var generator = SystemRandomNumberGenerator()
        self.description = (0..<2).map { _ in PrintID.hex(generator.next()) }.joined()
    }

    /// Creates an identity from exactly 32 lower-case hexadecimal digits, or returns `nil` for any other text.
    public init?(_ text: String) {
        guard text.utf8.count == 32,
            text.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
        else { return nil }
        self.description = text
    }

    /// Compares two identities by their text.
    public static func < (left: PrintID, right: PrintID) -> Bool { left.description < right.description }

    /// Decodes the 32 digits.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let id = PrintID(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not 32 hexadecimal digits")
            )
        }
        self = id
    }

    /// Encodes the 32 digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    private static func hex(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// The data stored with a template at enrollment.
///
/// Match-on-chip readers may store this data on the chip, where another system can read it.
public struct EnrollmentMetadata: Sendable, Hashable, Codable {
    /// The finger that the user specified, or `nil` to omit it.
    public var finger: Finger?
    /// The name of the profile, or `nil` to omit it.
    public var userName: String?
    /// The date of the enrollment, or `nil` to omit it.
    public var date: CalendarDate?

    /// Creates metadata, which is empty by default.
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

    /// Creates a date.
    ///
    /// The caller must ensure that the date exists.
    public init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }
}

/// A template in the reader's storage.
public struct StoredPrint: Sendable, Hashable {
    /// The handle of the template.
    ///
    /// Use ``FingerprintReader/isSamePrint(_:_:)`` to compare it with another one.
    public let template: Template
    /// The data stored with the template, as far as the reader kept it.
    public let metadata: EnrollmentMetadata

    /// Creates a stored template.
    public init(template: Template, metadata: EnrollmentMetadata) {
        self.template = template
        self.metadata = metadata
    }
}

/// An image of a finger.
public struct FingerprintImage: Sendable {
    /// The number of pixels per row.
    public let width: Int
    /// The number of rows.
    public let height: Int
    /// The gray values, row by row from the top.
    ///
    /// There are `width * height` of them, and 0 is black.
    public let pixels: [UInt8]

    /// Creates an image, or returns `nil` if the number of pixels does not match the size.
    public init?(width: Int, height: Int, pixels: [UInt8]) {
        guard width > 0, height > 0, width <= 1 << 14, height <= 1 << 14, pixels.count == width * height
        else { return nil }
        self.width = width
        self.height = height
        self.pixels = pixels
    }
}
