// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2
internal import WhorlSupport

/// The identity of a TPM: the key that its maker has certified.
package struct Endorsement: Sendable, Hashable {
    /// The public area of the endorsement key, TPMT_PUBLIC.
    package let publicArea: [UInt8]
    /// The maker's certificate, X.509 in DER.
    package let certificate: [UInt8]
}

/// The kinds of endorsement keys that makers certify, the preferred one first.
package enum EndorsementKind: Sendable, Hashable, CaseIterable {
    /// The key of the TCG's template L-2, of P-256.
    case p256
    /// The key of the template L-1, of RSA with 2,048 bits.
    case rsa2048

    /// Returns the kind of a key by the beginning of its public area, TPMT_PUBLIC; `nil` for any other key.
    package init?(publicArea: [UInt8]) {
        var bytes = ByteReader(publicArea)
        switch bytes.number(UInt16.self) {
        case TPM2_ALG_ECC: self = .p256
        case TPM2_ALG_RSA: self = .rsa2048
        default: return nil
        }
    }

    /// The index of the key's certificate.
    ///
    /// Source: TCG EK Credential Profile 2.x, 2.2.1.4.
    var certificateIndex: UInt32 {
        switch self {
        case .p256: 0x01c0_000a
        case .rsa2048: 0x01c0_0002
        }
    }

    /// The place where makers and firmware keep the key, which a chip takes many seconds to make; `nil` for the other
    /// kind, which is made fast.
    ///
    /// Source: TCG TPM v2.0 Provisioning Guidance 1.0, 7.8.
    var persistentHandle: UInt32? { self == .rsa2048 ? 0x8101_0001 : nil }
}

/// An endorsement key that the TPM holds, for the lifetime of this value.
struct EndorsementKey: ~Copyable {
    let handle: ESYS_TR
    private let staysInTPM: Bool
    private let connection: Connection

    /// Takes the key that the TPM keeps, or makes it again from the template.
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
    /// Returns the persistent object of a template, which the caller closes; `nil` if another one or none is there.
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

    /// Whether an object has a template's type, attributes and policy.
    private func publicArea(of object: ESYS_TR, fits template: TPMT_PUBLIC) throws(TPMError) -> Bool {
        var template = TPM2B_PUBLIC(size: 0, publicArea: template)
        let wanted = try Marshalling.bytes(Tss2_MU_TPM2B_PUBLIC_Marshal, of: &template).dropFirst(2)
        let found = try publicAreaBytes(of: object)
        // The key itself is at the end, and has the size of the zeros that stand for it in the template.
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
            throw TPMError(.other, command: "TPM2_ReadPublic", cause: "no value after success")
        }
        return Array(try Marshalling.bytes(Tss2_MU_TPM2B_PUBLIC_Marshal, of: area).dropFirst(2))
    }
}
