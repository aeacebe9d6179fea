// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2
internal import WhorlSupport

/// The identity of a TPM, which is the key that its manufacturer certified.
package struct Endorsement: Sendable, Hashable {
    /// The public area of the endorsement key, as a TPMT_PUBLIC.
    package let publicArea: [UInt8]
    /// The manufacturer's X.509 certificate in DER format.
    package let certificate: [UInt8]
}

/// The types of endorsement keys that manufacturers certify, in order of preference.
package enum EndorsementKind: Sendable, Hashable, CaseIterable {
    /// A P-256 key based on the TCG's template L-2.
    case p256
    /// A 2,048-bit RSA key based on the TCG's template L-1.
    case rsa2048

    /// Creates the type of the key whose public area (TPMT_PUBLIC) starts with the given bytes, or returns `nil` for
    /// any other key.
    package init?(publicArea: [UInt8]) {
        var bytes = ByteReader(publicArea)
        switch bytes.number(UInt16.self) {
        case TPM2_ALG_ECC: self = .p256
        case TPM2_ALG_RSA: self = .rsa2048
        default: return nil
        }
    }

    /// The NV index of the key's certificate.
    ///
    /// Source: TCG EK Credential Profile 2.x, 2.2.1.4.
    var certificateIndex: UInt32 {
        switch self {
        case .p256: 0x01c0_000a
        case .rsa2048: 0x01c0_0002
        }
    }

    /// The persistent handle at which manufacturers and firmware store the key if a TPM takes many seconds to create
    /// it.
    ///
    /// This is `nil` for the other type, which is created quickly.
    ///
    /// Source: TCG TPM v2.0 Provisioning Guidance 1.0, 7.8.
    var persistentHandle: UInt32? { self == .rsa2048 ? 0x8101_0001 : nil }
}

/// An endorsement key that is available in the TPM for the lifetime of this value.
struct EndorsementKey: ~Copyable {
    let handle: ESYS_TR
    private let staysInTPM: Bool
    private let connection: Connection

    /// Opens the key if it is stored in the TPM, or creates it again from the template.
    init(_ kind: EndorsementKind, on connection: Connection) throws(TPMError) {
        self.connection = connection
        let template = try PublicArea.endorsementKey(kind)
        if let place = kind.persistentHandle,
            let kept = try connection.object(at: place, of: template.publicArea)
        {
            (handle, staysInTPM) = (kept, true)
            return
        }
        do throws(TPMError) {
            (handle, staysInTPM) = (try connection.createPrimary(template, in: Fixed.endorsement), false)
        } catch {
            throw error.code == .authFailed ? error.told(as: .unsupported) : error
        }
    }

    func publicArea() throws(TPMError) -> [UInt8] { try connection.publicAreaBytes(of: handle) }

    deinit {
        if staysInTPM { connection.close(handle) } else { connection.flush(handle) }
    }
}

extension Connection {
    /// Returns the persistent object that was created from a template, which the caller must close.
    ///
    /// Returns `nil` if the handle is unused or belongs to another object.
    fileprivate func object(at place: UInt32, of template: TPMT_PUBLIC) throws(TPMError) -> ESYS_TR? {
        var object = Fixed.none
        do throws(TPMError) {
            try call("TPM2_ReadPublic") {
                Esys_TR_FromTPMPublic($0, place, Fixed.none, Fixed.none, Fixed.none, &object)
            }
        } catch {
            guard error.saysMissingHandle else { throw error }
            return nil
        }
        do throws(TPMError) {
            if try publicArea(of: object, fits: template) { return object }
        } catch {
            close(object)
            throw error
        }
        close(object)
        return nil
    }

    /// Returns whether an object has the type, attributes and policy of a template.
    private func publicArea(of object: ESYS_TR, fits template: TPMT_PUBLIC) throws(TPMError) -> Bool {
        var template = TPM2B_PUBLIC(size: 0, publicArea: template)
        let wanted = try Marshalling.bytes(Tss2_MU_TPM2B_PUBLIC_Marshal, of: &template).dropFirst(2)
        let found = try publicAreaBytes(of: object)
        // The key itself is at the end, and has the size of its placeholder zeros in the template.
        let size = Int(template.publicArea.unique.rsa.size)
        return found.count == wanted.count && found.dropLast(size).elementsEqual(wanted.dropLast(size))
    }

    fileprivate func publicAreaBytes(of object: ESYS_TR) throws(TPMError) -> [UInt8] {
        var area: UnsafeMutablePointer<TPM2B_PUBLIC>?
        try call("TPM2_ReadPublic") {
            Esys_ReadPublic($0, object, Fixed.none, Fixed.none, Fixed.none, &area, nil, nil)
        }
        defer { CMemory.release(area) }
        guard let area else {
            throw TPMError(.other, command: "TPM2_ReadPublic", cause: "success without a value")
        }
        return Array(try Marshalling.bytes(Tss2_MU_TPM2B_PUBLIC_Marshal, of: area).dropFirst(2))
    }
}
