// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// The properties of a ``MockReader``, apart from the steps that it goes through.
public struct MockSettings: Sendable, Hashable {
    /// The behavior of a mock whose script has run out.
    public enum AfterScript: String, Sendable, Hashable, CaseIterable {
        /// It waits for a finger until it is cancelled, as a reader does that is not touched.
        case wait
        /// Every wait is answered with the finger that is asked for, ``MockFinger/expected``.
        case match
        /// Every wait is answered with somebody else's finger, ``MockFinger/unknown``.
        case noMatch
    }

    /// The reader's identity.
    public var id: ReaderID
    /// The name for people.
    public var name: String
    /// Press or swipe.
    public var scanType: ReaderInfo.ScanType
    /// Good presentations for one enrollment, 1 to 50.
    public var stages: Int
    /// The side that keeps the templates.
    public var storage: ReaderInfo.Storage
    /// The supported operations; `nil` means what readers with this kind of storage usually have.
    public var features: ReaderFeatures?
    /// The file in which a reader with its own storage keeps its prints from one process to the next; `nil` forgets them.
    ///
    /// A small text file that is replaced as a whole. Two processes that change it at once lose one change.
    public var storageFile: String?
    /// Whether the reader is plugged in at the beginning.
    public var isConnected: Bool
    /// The behavior when the script has run out.
    public var afterScript: AfterScript

    /// Five stages, host storage, plugged in, waiting when the script has run out.
    public init() {
        id = ReaderID(rawValue: "mock-0")
        name = "Mock reader"
        scanType = .press
        stages = 5
        storage = .host
        features = nil
        storageFile = nil
        isConnected = true
        afterScript = .wait
    }

    var info: ReaderInfo {
        ReaderInfo(
            id: id,
            driver: "mock",
            name: name,
            kind: .mock,
            scanType: scanType,
            features: features ?? MockSettings.usualFeatures(storage),
            enrollStages: stages,
            storage: storage,
            strength: .none,
            access: ReaderAccess(.pretended)
        )
    }

    private static func usualFeatures(_ storage: ReaderInfo.Storage) -> ReaderFeatures {
        switch storage {
        case .host: [.capture, .identify, .verify]
        case .reader: [.identify, .verify, .storage, .storageList, .storageDelete, .storageClear]
        }
    }
}
