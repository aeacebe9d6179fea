// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
import WhorlService
internal import WhorlSupport

/// The value of an item as stored in its row.
enum StoredContents: Sendable, Hashable {
    /// A value that ``ValueCipher`` encrypted with a key derived from the state key.
    case sealed(Data)
    /// A secret that the TPM unseals.
    case secret(SealedItem)
    /// A key that the TPM uses.
    case key(SealedItem)

    /// The number for the column `sealing`.
    var sealing: Int {
        switch self {
        case .sealed: 1
        case .secret: 2
        case .key: 3
        }
    }

    /// Whether only the TPM releases the value.
    var isSealedByTPM: Bool {
        switch self {
        case .sealed: false
        case .secret, .key: true
        }
    }

    /// The bytes for the column `value`.
    var encoded: Data {
        switch self {
        case .sealed(let bytes): bytes
        case .secret(let item), .key(let item): item.columnValue
        }
    }

    /// Creates the contents for an item that the TPM has sealed.
    init(_ item: SealedItem) {
        switch item.kind {
        case .secret: self = .secret(item)
        // SSH keys are never sealed for a program, and decoding refuses such an item.
        case .key, .sshKey: self = .key(item)
        }
    }

    init?(sealing: Int, encoded: Data) {
        switch sealing {
        case 1: self = .sealed(encoded)
        case 2:
            guard let item = SealedItem(columnValue: encoded, kind: .secret) else { return nil }
            self = .secret(item)
        case 3:
            guard let item = SealedItem(columnValue: encoded, kind: .key) else { return nil }
            self = .key(item)
        default: return nil
        }
    }

    /// The part that a row's authentication code covers.
    ///
    /// If the store encrypts the value, this is only the GCM tag, so that the attributes of a large value can be
    /// verified without reading the value.
    var covered: Data {
        switch self {
        case .sealed(let bytes): bytes.suffix(SaltedCipher.tagSize)
        case .secret, .key: encoded
        }
    }
}

extension SealedItem {
    /// The encoding from which the sealed item can be restored.
    fileprivate var columnValue: Data {
        var bytes = ByteWriter(CollectionOfOne(1))
        bytes.append(sized: profile)
        bytes.append(sized: access.text)
        bytes.append(sized: publicKey ?? Data())
        bytes.append(sized: encoded)
        return Data(bytes.bytes)
    }

    fileprivate init?(columnValue: Data, kind: ItemKind) {
        var bytes = ByteReader(columnValue)
        guard bytes.number(UInt8.self) == 1,
            let profile = bytes.text(),
            let access = bytes.text()
                .flatMap({ try? AccessControl($0) }),
            let publicKey = bytes.sized(), let encoded = bytes.sized(), bytes.isAtEnd
        else { return nil }
        self.init(
            kind: kind,
            profile: profile,
            access: access,
            publicKey: publicKey.isEmpty ? nil : publicKey,
            encoded: encoded
        )
    }
}

/// Encrypts values that do not require authentication, with AES-256-GCM.
///
/// Each value has a separate key and is bound to the item's number, profile and attributes. Programs pass and receive
/// values as `Data`, as defined by Apple's API. Because the values are in ordinary memory there, they are in ordinary
/// memory here as well.
struct ValueCipher {
    private let cipher: SaltedCipher

    init(keys: StateKeys) { cipher = SaltedCipher(keys, .keychainValues) }

    func seal(_ value: Data, for id: Int64, of profile: String, _ record: Data) throws -> Data {
        try cipher.seal(value, authenticating: ValueCipher.context(id, profile, record))
    }

    /// Returns the decrypted value, or `nil` if it was not sealed for this item.
    func open(_ sealed: Data, for id: Int64, of profile: String, _ record: Data) -> Data? {
        cipher.open(sealed, authenticating: ValueCipher.context(id, profile, record))
    }

    private static func context(_ id: Int64, _ profile: String, _ record: Data) -> Data {
        var bytes = ByteWriter("whorl keychain value v1")
        bytes.append(UInt64(bitPattern: id))
        bytes.append(sized: profile)
        bytes.append(sized: record)
        return Data(bytes.bytes)
    }
}
