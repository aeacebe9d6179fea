// SPDX-License-Identifier: Apache-2.0

/// The identity of a reader on this machine, stable across restarts while the reader stays in the same place.
///
/// It consists of the driver's name and the reader's id, or its place on the bus if it has no id. It does not prove
/// what the hardware is: a USB device can claim any name.
public struct ReaderID: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The identity as text, such as `elanmoc-1` or `mock-0`.
    public let rawValue: String

    /// Creates an identity from a ``rawValue``.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The raw value.
    public var description: String { rawValue }
}

/// The properties and features of a reader, known without opening it except where noted.
public struct ReaderInfo: Sendable, Hashable, Codable {
    /// The way a finger is presented to the reader.
    public enum ScanType: String, Sendable, Codable {
        /// Touch the sensor and lift.
        case press = "press"
        /// Swipe across a narrow sensor.
        case swipe = "swipe"

        /// The instruction for the user.
        public var instruction: String {
            switch self {
            case .press: "Touch the reader."
            case .swipe: "Swipe your finger across the reader."
            }
        }
    }

    /// The location where templates are stored and compared.
    public enum Storage: String, Sendable, Codable {
        /// The reader returns images; this computer stores and compares the templates.
        case host
        /// The reader stores and compares the templates (match on chip).
        case reader
    }

    /// The type of reader behind the protocol; shown to users, so that no one mistakes a test reader for a real one.
    public enum Kind: String, Sendable, Codable {
        /// Hardware with a driver.
        case hardware = "hardware"
        /// One of libfprint's virtual drivers, fed over a socket.
        case virtual = "virtual"
        /// A scripted reader.
        case mock = "mock"

        /// The warning about a test reader; `nil` for hardware.
        public var warning: String? {
            switch self {
            case .hardware: nil
            case .virtual: "Virtual reader: no real fingerprint is read."
            case .mock: "Test reader: no real fingerprint is read."
            }
        }
    }

    /// The identity used by the store and in the digest of the enrolled fingers.
    public let id: ReaderID
    /// The driver's name, such as `elanmoc`.
    public let driver: String
    /// The display name.
    ///
    /// It may come from the device: sanitize it before printing it to a terminal.
    public let name: String
    /// Whether the reader is real hardware.
    public let kind: Kind
    /// Press or swipe.
    public let scanType: ScanType
    /// The supported features.
    ///
    /// Some drivers know them only after the reader was opened once.
    public let features: ReaderFeatures
    /// The number of presentations for one enrollment, without repeated ones.
    ///
    /// Some drivers correct it when the reader is opened.
    public let enrollStages: Int
    /// The location of the templates.
    public let storage: Storage
    /// The reader's resistance to chance matches, if known.
    public let strength: ReaderStrength
    /// The access to the reader when it was described.
    public let access: ReaderAccess
    /// The model of a USB reader; `nil` for any other.
    public let usb: USBModel?

    /// Creates a description of a reader.
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

/// The USB vendor and product IDs, the same for all readers of one model.
///
/// They do not prove what the hardware is: a USB device can claim any IDs.
public struct USBModel: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The vendor ID (`idVendor`).
    public let vendor: UInt16
    /// The product ID (`idProduct`).
    public let product: UInt16

    /// Creates a model.
    public init(vendor: UInt16, product: UInt16) {
        self.vendor = vendor
        self.product = product
    }

    /// The IDs as `lsusb` prints them, such as `1c7a:0570`.
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

    /// Creates features from a ``rawValue``; unknown bits are kept.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Captures images.
    public static let capture = ReaderFeatures(rawValue: 1 << 0)
    /// Compares one presentation with many templates.
    public static let identify = ReaderFeatures(rawValue: 1 << 1)
    /// Compares one presentation with one template.
    public static let verify = ReaderFeatures(rawValue: 1 << 2)
    /// Stores templates.
    public static let storage = ReaderFeatures(rawValue: 1 << 3)
    /// Lists its stored templates.
    public static let storageList = ReaderFeatures(rawValue: 1 << 4)
    /// Deletes one template.
    public static let storageDelete = ReaderFeatures(rawValue: 1 << 5)
    /// Deletes all templates in one operation.
    public static let storageClear = ReaderFeatures(rawValue: 1 << 6)
    /// Refuses to enroll the same finger twice.
    public static let duplicatesCheck = ReaderFeatures(rawValue: 1 << 7)
    /// Can wait for a finger indefinitely.
    public static let alwaysOn = ReaderFeatures(rawValue: 1 << 8)
    /// May update a template with each match.
    public static let updatePrint = ReaderFeatures(rawValue: 1 << 9)

    private static let table: [(ReaderFeatures, String)] = [
        (.capture, "capture"), (.identify, "identify"), (.verify, "verify"), (.storage, "storage"),
        (.storageList, "storageList"), (.storageDelete, "storageDelete"), (.storageClear, "storageClear"),
        (.duplicatesCheck, "duplicatesCheck"), (.alwaysOn, "alwaysOn"), (.updatePrint, "updatePrint"),
    ]

    /// All features that this version knows.
    public static let known = ReaderFeatures(table.map(\.0))

    /// The names of the known features in this set, in a fixed order, as used in JSON output.
    public var names: [String] { Self.table.filter { contains($0.0) }.map(\.1) }
}

/// A class of readers, by the probability that a stranger's finger matches.
///
/// It helps to choose a reader. It is not a measured false match rate of one device.
public enum ReaderStrength: Sendable, Hashable, Codable {
    /// The host compares minutiae, and accepts this score or higher as a match (BOZORTH3; usually 40).
    case minutiaeScore(threshold: Int)
    /// The reader compares with an undisclosed method.
    case onReader
    /// A mock or a virtual reader: the program that feeds it decides whether a finger matches.
    case none

    /// The name used in JSON output: `strong`, `fair`, `weak`, `reader` or `none`.
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

/// The connection of a reader, as reported by the machine's firmware.
package enum ReaderPlacement: Sendable, Hashable, CaseIterable {
    /// Built into the machine.
    case builtIn
    /// Plugged into a port.
    case pluggedIn
    /// Not reported; the firmware of many machines does not.
    case unknown

    /// Parses the `removable` attribute that Linux provides for a USB device.
    package init(removable text: String) {
        self =
            switch text.prefix(while: { !$0.isWhitespace }) {
            case "fixed": .builtIn
            case "removable": .pluggedIn
            default: .unknown
            }
    }
}
