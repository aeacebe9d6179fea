// SPDX-License-Identifier: Apache-2.0

/// The identity of a reader on this machine: the same reader in the same place has the same identity at the next
/// start of the program.
///
/// It is made of the driver's name and the reader's own id (or, where a reader has none, its place on the bus).
/// It does not prove that the hardware is what it says: a USB device can claim any name.
public struct ReaderID: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The identity as text, such as `elanmoc-1` or `mock-0`.
    public let rawValue: String

    /// Takes text that ``rawValue`` once gave.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text itself.
    public var description: String { rawValue }
}

/// A reader's properties and abilities; all of them are known without opening the reader, except where said.
public struct ReaderInfo: Sendable, Hashable, Codable {
    /// The way in which a finger is presented to the reader.
    public enum ScanType: String, Sendable, Codable {
        /// The finger is laid on and lifted.
        case press = "press"
        /// The finger is drawn over a narrow sensor.
        case swipe = "swipe"

        /// The instruction for the person.
        public var instruction: String {
            switch self {
            case .press: "Touch the reader."
            case .swipe: "Swipe your finger across the reader."
            }
        }
    }

    /// The side that keeps the templates and compares.
    public enum Storage: String, Sendable, Codable {
        /// The reader gives images; this computer keeps the templates and compares.
        case host
        /// The reader keeps the templates and compares (match on chip).
        case reader
    }

    /// The kind of thing behind the protocol; shown to people, so that a pretended reader is never taken for a real one.
    public enum Kind: String, Sendable, Codable {
        /// Hardware that a driver speaks to.
        case hardware = "hardware"
        /// One of libfprint's virtual drivers, fed over a socket.
        case virtual = "virtual"
        /// A script.
        case mock = "mock"

        /// The warning about a pretended reader; `nil` for hardware.
        public var warning: String? {
            switch self {
            case .hardware: nil
            case .virtual: "Virtual reader: no real fingerprint is read."
            case .mock: "Test reader: no real fingerprint is read."
            }
        }
    }

    /// The identity that the store and the digest of the enrollment set use.
    public let id: ReaderID
    /// The driver's name, such as `elanmoc`.
    public let driver: String
    /// A name for people.
    ///
    /// It may come from the device itself: clean it before it reaches a terminal.
    public let name: String
    /// Real hardware or not.
    public let kind: Kind
    /// Press or swipe.
    public let scanType: ScanType
    /// The features that the reader supports.
    ///
    /// Some drivers know this only after the reader was opened once.
    public let features: ReaderFeatures
    /// Presentations that one enrollment takes when none has to be repeated.
    ///
    /// Some drivers correct it at opening.
    public let enrollStages: Int
    /// The side that keeps the templates.
    public let storage: Storage
    /// The reader's resistance to chance matches, where something is known about it.
    public let strength: ReaderStrength
    /// The access to the reader when it was described.
    public let access: ReaderAccess
    /// The model of a USB reader; `nil` for any other.
    public let usb: USBModel?

    /// Describes a reader.
    public init(
        id: ReaderID,
        driver: String,
        name: String,
        kind: Kind,
        scanType: ScanType,
        features: ReaderFeatures,
        enrollStages: Int,
        storage: Storage,
        strength: ReaderStrength,
        access: ReaderAccess,
        usb: USBModel? = nil
    ) {
        self.id = id
        self.driver = driver
        self.name = name
        self.kind = kind
        self.scanType = scanType
        self.features = features
        self.enrollStages = enrollStages
        self.storage = storage
        self.strength = strength
        self.access = access
        self.usb = usb
    }
}

/// The numbers by which a USB device names its model; all readers of one model have the same.
///
/// They do not prove that the hardware is what it says: a USB device can claim any numbers.
public struct USBModel: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The vendor's number (`idVendor`).
    public let vendor: UInt16
    /// The vendor's number for the product (`idProduct`).
    public let product: UInt16

    /// Names a model.
    public init(vendor: UInt16, product: UInt16) {
        self.vendor = vendor
        self.product = product
    }

    /// The numbers as `lsusb` writes them, such as `1c7a:0570`.
    public var description: String {
        [vendor, product].map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 4 - digits.count) + digits
        }.joined(separator: ":")
    }
}

/// The operations that a reader supports.
///
/// The corresponding C type is `FpDeviceFeature`.
public struct ReaderFeatures: OptionSet, Sendable, Hashable, Codable {
    /// One bit for each feature, as in `FpDeviceFeature`.
    public let rawValue: UInt32

    /// Takes bits as ``rawValue`` gives them; unknown bits are kept.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Gives images.
    public static let capture = ReaderFeatures(rawValue: 1 << 0)
    /// Compares one presentation with many templates.
    public static let identify = ReaderFeatures(rawValue: 1 << 1)
    /// Compares one presentation with one template.
    public static let verify = ReaderFeatures(rawValue: 1 << 2)
    /// Keeps templates in itself.
    public static let storage = ReaderFeatures(rawValue: 1 << 3)
    /// Lists the templates that it keeps.
    public static let storageList = ReaderFeatures(rawValue: 1 << 4)
    /// Deletes one template.
    public static let storageDelete = ReaderFeatures(rawValue: 1 << 5)
    /// Deletes all templates at once.
    public static let storageClear = ReaderFeatures(rawValue: 1 << 6)
    /// Refuses by itself to enroll a finger twice.
    public static let duplicatesCheck = ReaderFeatures(rawValue: 1 << 7)
    /// May be left waiting for a finger for ever.
    public static let alwaysOn = ReaderFeatures(rawValue: 1 << 8)
    /// May improve a template with each match.
    public static let updatePrint = ReaderFeatures(rawValue: 1 << 9)

    private static let table: [(ReaderFeatures, String)] = [
        (.capture, "capture"), (.identify, "identify"), (.verify, "verify"), (.storage, "storage"),
        (.storageList, "storageList"), (.storageDelete, "storageDelete"), (.storageClear, "storageClear"),
        (.duplicatesCheck, "duplicatesCheck"), (.alwaysOn, "alwaysOn"), (.updatePrint, "updatePrint"),
    ]

    /// All features that this version knows.
    public static let known = ReaderFeatures(table.map(\.0))

    /// The names of the known features that are present, in a fixed order, as JSON output has them.
    public var names: [String] { Self.table.filter { contains($0.0) }.map(\.1) }
}

/// A class of readers by the chance that a stranger's finger matches.
///
/// It is a hint for people who choose a reader. It is not a measured false match rate of one device.
public enum ReaderStrength: Sendable, Hashable, Codable {
    /// The host compares minutiae, and takes a score of at least this as a match (BOZORTH3; the usual one is 40).
    case minutiaeScore(threshold: Int)
    /// The reader compares by its own method, which it does not tell.
    case onReader
    /// A mock or a virtual reader: the program that feeds it decides what matches.
    case none

    /// The name that JSON output has: `strong`, `fair`, `weak`, `reader` or `none`.
    ///
    /// Strong is the matcher's default threshold of 40; fair is 20 to 39; weak is lower.
    public var name: String {
        switch self {
        case .minutiaeScore(let threshold) where threshold >= 40: "strong"
        case .minutiaeScore(let threshold) where threshold >= 20: "fair"
        case .minutiaeScore: "weak"
        case .onReader: "reader"
        case .none: "none"
        }
    }
}

/// The place of a reader, as the machine's firmware tells it.
package enum ReaderPlacement: Sendable, Hashable, CaseIterable {
    /// Built into the machine.
    case builtIn
    /// Plugged into a port.
    case pluggedIn
    /// Not told, as by many machines' firmware.
    case unknown

    /// Reads the attribute `removable` that Linux gives a USB device.
    package init(removable text: String) {
        self =
            switch text.prefix(while: { !$0.isWhitespace }) {
            case "fixed": .builtIn
            case "removable": .pluggedIn
            default: .unknown
            }
    }
}
