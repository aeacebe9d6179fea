// SPDX-License-Identifier: Apache-2.0

/// The identity of a reader on this machine, which is stable across restarts as long as the reader stays in the same
/// place.
///
/// It consists of the driver's name and the reader's ID, or its place on the bus if it has no ID. It does not prove
/// what the hardware is, because a USB device can claim any name.
public struct ReaderID: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The identity as text, such as `elanmoc-1` or `mock-0`.
    public let rawValue: String

    /// Creates an identity from a ``rawValue``.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The raw value.
    public var description: String { rawValue }
}

/// The properties and features of a reader, which are known without opening it except where noted.
public struct ReaderInfo: Sendable, Hashable, Codable {
    /// The way a finger is presented to the reader.
    public enum ScanType: String, Sendable, Codable {
        /// The finger touches the sensor and is lifted.
        case press = "press"
        /// The finger is swiped across a narrow sensor.
        case swipe = "swipe"

        /// The instruction shown to the user.
        public var instruction: String {
            switch self {
            case .press: "Touch the reader."
            case .swipe: "Swipe your finger across the reader."
            }
        }
    }

    /// The location where templates are stored and compared.
    public enum Storage: String, Sendable, Codable {
        /// The reader returns images, and this computer stores and compares the templates.
        case host
        /// The reader stores and compares the templates (match on chip).
        case reader
    }

    /// The type of reader behind the protocol.
    ///
    /// It is shown to users so that no one mistakes a test reader for a real one.
    public enum Kind: String, Sendable, Codable {
        /// Hardware with a driver.
        case hardware = "hardware"
        /// One of libfprint's virtual drivers, which receives its input over a socket.
        case virtual = "virtual"
        /// A scripted reader.
        case mock = "mock"

        /// The warning about a test reader, or `nil` for real hardware.
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
    /// It may come from the device, so sanitize it before printing it to a terminal.
    public let name: String
    /// Whether the reader is real hardware.
    public let kind: Kind
    /// The way a finger is presented to this reader (press or swipe).
    public let scanType: ScanType
    /// The supported features.
    ///
    /// Some drivers know them only after the reader has been opened once.
    public let features: ReaderFeatures
    /// The number of presentations that one enrollment requires, not counting retries.
    ///
    /// Some drivers correct it when the reader is opened.
    public let enrollStages: Int
    /// The location of the templates.
    public let storage: Storage
    /// The reader's resistance to false matches, if known.
    public let strength: ReaderStrength
    /// The access to the reader at the time when this description was created.
    public let access: ReaderAccess
    /// The model of a USB reader, or `nil` for any other reader.
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
/// They do not prove what the hardware is, because a USB device can claim any IDs.
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
    /// The features as bits, one for each feature, as in `FpDeviceFeature`.
    public let rawValue: UInt32

    /// Creates features from a ``rawValue``, including unknown bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The reader can capture images.
    public static let capture = ReaderFeatures(rawValue: 1 << 0)
    /// The reader can compare one presentation with many templates.
    public static let identify = ReaderFeatures(rawValue: 1 << 1)
    /// The reader can compare one presentation with one template.
    public static let verify = ReaderFeatures(rawValue: 1 << 2)
    /// The reader can store templates.
    public static let storage = ReaderFeatures(rawValue: 1 << 3)
    /// The reader can list its stored templates.
    public static let storageList = ReaderFeatures(rawValue: 1 << 4)
    /// The reader can delete a single template.
    public static let storageDelete = ReaderFeatures(rawValue: 1 << 5)
    /// The reader can delete all templates in one operation.
    public static let storageClear = ReaderFeatures(rawValue: 1 << 6)
    /// The reader refuses to enroll the same finger twice.
    public static let duplicatesCheck = ReaderFeatures(rawValue: 1 << 7)
    /// The reader can wait for a finger indefinitely.
    public static let alwaysOn = ReaderFeatures(rawValue: 1 << 8)
    /// The reader may update a template with each match.
    public static let updatePrint = ReaderFeatures(rawValue: 1 << 9)

    private static let table: [(ReaderFeatures, String)] = [
        (.capture, "capture"), (.identify, "identify"), (.verify, "verify"), (.storage, "storage"),
        (.storageList, "storageList"), (.storageDelete, "storageDelete"), (.storageClear, "storageClear"),
        (.duplicatesCheck, "duplicatesCheck"), (.alwaysOn, "alwaysOn"), (.updatePrint, "updatePrint"),
    ]

    /// All features known to this version.
    public static let known = ReaderFeatures(table.map(\.0))

    /// The names of the known features in this set, as used in JSON output, in a fixed order.
    public var names: [String] { Self.table.filter { contains($0.0) }.map(\.1) }
}

/// A class of readers according to the probability that a stranger's finger matches.
///
/// It can help to choose a reader, but it is not the measured false match rate of a particular device.
public enum ReaderStrength: Sendable, Hashable, Codable {
    /// The host compares minutiae and accepts the given BOZORTH3 score (usually 40) or a higher one as a match.
    case minutiaeScore(threshold: Int)
    /// The reader uses an undisclosed method of comparison.
    case onReader
    /// The reader is a mock or virtual, so the program that feeds it decides whether a finger matches.
    case none

    /// The name used in JSON output: `strong`, `fair`, `weak`, `reader` or `none`.
    ///
    /// A threshold of at least 40, the matcher's default, is strong, 20 to 39 is fair, and anything lower is weak.
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

/// The way a reader is connected, as reported by the machine's firmware.
package enum ReaderPlacement: Sendable, Hashable, CaseIterable {
    /// The reader is built into the machine.
    case builtIn
    /// The reader is plugged into a port.
    case pluggedIn
    /// The firmware does not report the connection, as is the case on many machines.
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
