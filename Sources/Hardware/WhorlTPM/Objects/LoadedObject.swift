// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2

/// An object that is loaded in a TPM slot for the lifetime of this value.
///
/// The object may stay in the cache afterward.
struct LoadedObject: ~Copyable {
    private let connection: Connection
    let handle: ESYS_TR

    /// Takes the object from the cache, or loads it (TPM2_Load) in place of the least recently used one.
    ///
    /// The name in the TPM's response must be the name of our public area. The parent's empty authorization value is
    /// sent as a password, because it is not a secret.
    init(_ object: TPMObject, under parent: ESYS_TR, on connection: Connection) throws(TPMError) {
        if let handle = connection.cache.borrow(object) {
            self.handle = handle
        } else {
            handle = try Self.load(object, under: parent, on: connection)
        }
        self.connection = connection
    }

    private static func load(
        _ object: TPMObject,
        under parent: ESYS_TR,
        on connection: Connection
    ) throws(TPMError) -> ESYS_TR {
        connection.cache.makeRoom(on: connection)
        var (publicArea, privateArea) = try object.areas()
        var handle = Fixed.none
        do throws(TPMError) {
            try connection.call("TPM2_Load") {
                Esys_Load(
                    $0,
                    parent,
                    Fixed.password,
                    Fixed.none,
                    Fixed.none,
                    &privateArea,
                    &publicArea,
                    &handle
                )
            }
        } catch {
            connection.noteUnanswered(object.name)
            throw explain(error)
        }
        do throws(TPMError) {
            guard try connection.name(of: handle) == object.name else {
                throw TPMError(.foreignBlob, command: "TPM2_Load", cause: "it has a different name")
            }
        } catch {
            connection.flush(handle)
            throw error
        }
        connection.cache.adopt(handle, object)
        return handle
    }

    /// Returns a more specific error for a failed load if the parent is missing or the blob does not belong to this
    /// TPM.
    ///
    /// The TPM reports damaged private areas in several ways, but always with the number of the parameter.
    private static func explain(_ error: TPMError) -> TPMError {
        switch error.faultyPart {
        case .handle: error.told(as: .foreignRoot)
        case .parameter: error.code == .unsupported ? error : error.told(as: .foreignBlob)
        case .session: error.code == .authFailed ? error.told(as: .foreignRoot) : error
        case .unknown: error
        }
    }

    deinit { connection.cache.giveBack(handle) }
}
