// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2
internal import WhorlSupport

/// The persistent parent key of all other objects, pinned by its name.
///
/// Sessions are salted to the pinned public key so that an impostor without the private key cannot compute a single
/// valid response. Store ``serialized`` where only its owner can modify it.
package struct StorageRoot: Sendable, Hashable {
    /// The conventional handle of a storage root.
    package static let commonHandle: UInt32 = 0x8100_0001
    /// The handles used for Whorl's storage root if another key has the common handle.
    static let ownHandles: ClosedRange<UInt32> = 0x8157_4801...0x8157_4808

    /// The persistent handle.
    package let handle: UInt32
    /// The pinned name.
    package let name: TPMName
    /// The result of `Esys_TR_Serialize()`.
    let resource: [UInt8]
}

extension StorageRoot {
    /// Parses the ``serialized`` form.
    ///
    /// - Throws: ``TPMError/Code-swift.enum/malformed``.
    package init(serialized: [UInt8]) throws(TPMError) {
        (handle, name, resource) = try PersistentResource.read(serialized, kind: .storageRoot)
    }

    /// The form in which the root is stored.
    package var serialized: [UInt8] { PersistentResource.bytes(.storageRoot, handle, name, resource) }
}

/// The stored form of a resource with a persistent handle in the TPM.
enum PersistentResource: UInt8 {
    case storageRoot = 0x52
    case counter = 0x43

    private static let version: UInt8 = 1
    private static let maximumSize = 2048

    static func bytes(_ kind: Self, _ handle: UInt32, _ name: TPMName, _ resource: [UInt8]) -> [UInt8] {
        var stored = ByteWriter([version, kind.rawValue])
        stored.append(handle)
        stored.append(sized: name.bytes, by: UInt16.self)
        stored.append(sized: resource, by: UInt16.self)
        return stored.bytes
    }

    static func read(
        _ bytes: [UInt8],
        kind: Self
    ) throws(TPMError) -> (handle: UInt32, name: TPMName, resource: [UInt8]) {
        var reader = ByteReader(bytes)
        guard reader.take(2)?.elementsEqual([version, kind.rawValue]) == true else {
            throw TPMError(.malformed, cause: "unknown kind or version")
        }
        guard let handle = reader.number(UInt32.self),
            let name = reader.sized(by: UInt16.self), name.count <= 66,
            let resource = reader.sized(by: UInt16.self), resource.count <= maximumSize, reader.isAtEnd
        else { throw TPMError(.malformed, cause: "a part is truncated or too large") }
        return (handle, TPMName(bytes: Array(name)), Array(resource))
    }
}

extension Connection {
    /// Calls `body` with the ESAPI handle of a pinned resource, without sending a command to the TPM.
    ///
    /// The name is computed from the public area in the stored bytes and must be the pinned one.
    func withPinned<Value: ~Copyable>(
        _ resource: [UInt8],
        handle: UInt32,
        name: TPMName,
        _ body: (ESYS_TR) throws(TPMError) -> Value
    ) throws(TPMError) -> Value {
        var object = Fixed.none
        do throws(TPMError) {
            try call("Esys_TR_Deserialize") { Esys_TR_Deserialize($0, resource, resource.count, &object) }
        } catch { throw error.told(as: .malformed) }
        defer { close(object) }
        let pin = Pin(resource: resource, handle: handle, name: name)
        if !pins.isChecked(pin) {
            var found: UInt32 = 0
            try call("Esys_TR_GetTpmHandle") { Esys_TR_GetTpmHandle($0, object, &found) }
            guard found == handle, try self.name(of: object) == name else {
                throw TPMError(.malformed, cause: "the stored public area has a different name")
            }
            pins.noteChecked(pin)
        }
        pins.lend(object, named: name)
        defer { pins.takeBack(object) }
        return try body(object)
    }

    /// Calls `body` with the handle of the storage root.
    func withRoot<Value: ~Copyable>(
        _ root: StorageRoot,
        _ body: (ESYS_TR) throws(TPMError) -> Value
    ) throws(TPMError) -> Value {
        try withPinned(root.resource, handle: root.handle, name: root.name, body)
    }

    /// Returns the bytes to store for a persistent resource in the TPM (`Esys_TR_Serialize()`, transfer full).
    func serialize(_ object: ESYS_TR) throws(TPMError) -> [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        try call("Esys_TR_Serialize") { Esys_TR_Serialize($0, object, &bytes, &count) }
        return try CMemory.take(bytes, of: "Esys_TR_Serialize") {
            Array(UnsafeBufferPointer(start: $0, count: count))
        }
    }
}
