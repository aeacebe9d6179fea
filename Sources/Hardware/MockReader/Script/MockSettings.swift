// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// The properties of a ``MockReader``, except its steps.
public struct MockSettings: Sendable, Hashable {
    /// The behavior of a mock at the end of its script.
    public enum AfterScript: String, Sendable, Hashable, CaseIterable {
        /// Waits for a finger until the operation is cancelled, like a reader that no one touches.
        case wait
        /// Answers every wait with the expected finger, ``MockFinger/expected``.
        case match
        /// Answers every wait with a stranger's finger, ``MockFinger/unknown``.
        case noMatch
    }

    /// The reader's identity.
    public var id: ReaderID
    /// The display name.
    public var name: String
    /// The way a finger is presented to the reader (press or swipe).
    public var scanType: ReaderInfo.ScanType
    /// The number of good presentations that one enrollment requires, from 1 to 50.
    public var stages: Int
    /// The location where templates are stored.
    public var storage: ReaderInfo.Storage
    /// The supported operations, or `nil` for those that readers with this type of storage usually support.
    public var features: ReaderFeatures?
    /// The file in which a reader with storage saves its prints for later processes, or `nil` to save no prints.
    ///
    /// It is a small text file that is always replaced as a whole. If two processes change it at the same time, one
    /// change is lost.
    public var storageFile: String?
    /// Whether the reader is plugged in at the start.
    public var isConnected: Bool
    /// The behavior at the end of the script.
    public var afterScript: AfterScript

    /// Creates the default settings, with five stages, host storage, and a reader that is plugged in and waits at the
    /// end of the script.
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
