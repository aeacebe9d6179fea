// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlService

@testable import KeychainServices

extension FuzzTarget {
    static let keyTargets: [FuzzTarget] = [
        FuzzTarget(name: "certificate", longestInput: 2048, check: certificate),
        FuzzTarget(name: "key-bytes", longestInput: 1024, check: keyBytes),
        FuzzTarget(name: "key-algorithm", longestInput: 128, check: keyAlgorithm),
    ]

    /// What is read as a certificate has what the keychain stores of it.
    private static func certificate(_ input: [UInt8]) throws(BrokenPromise) {
        let data = Data(input) as NSData
        guard let certificate = SecCertificateCreateWithData(nil, data) else { return }
        try promise(SecCertificateCopyData(certificate) == data, "a certificate has other bytes")
        guard let form = try? certificate.form() else {
            // Names longer than an attribute may be are the one thing that is read and not stored.
            try promise(input.count > KeychainClass.Form.longest, "a certificate that is not stored")
            return
        }
        try promise(form.attributes["slnr"] != nil && form.attributes["issr"] != nil, "nothing names it")
        _ = SecCertificateCopyKey(certificate)
        _ = SecCertificateCopySubjectSummary(certificate)
        var addresses: CFArray?
        try promise(
            SecCertificateCopyEmailAddresses(certificate, &addresses) == errSecSuccess,
            "no addresses"
        )
        for date in [
            SecCertificateCopyNotValidBeforeDate(certificate),
            SecCertificateCopyNotValidAfterDate(certificate),
        ] {
            try promise(date?.timeIntervalSince1970.isFinite ?? true, "a date is none")
        }
    }

    /// A key that was made of bytes gives them back, and no bytes make the process end.
    private static func keyBytes(_ input: [UInt8]) throws(BrokenPromise) {
        guard let first = input.first else { return }
        let data = Data(input.dropFirst())
        let isRSA = first & 1 == 1
        let isPrivate = first & 2 == 2
        guard let material = KeyMaterial(data, isRSA: isRSA, isPrivate: isPrivate) else { return }
        let key = SecKey(material)
        let copy = SecKeyCopyExternalRepresentation(key, nil).map { Data(referencing: $0) }
        // RSA is also read as PKCS#8 and SubjectPublicKeyInfo, and given as PKCS#1.
        if !isRSA { try promise(copy == data, "a key has other bytes") }
        let again = copy.flatMap { KeyMaterial($0, isRSA: isRSA, isPrivate: isPrivate) }
        try promise(again?.isSame(as: material) == true, "a key does not read back")
    }

    /// A name that is known has one of the forms that Apple's names have.
    private static func keyAlgorithm(_ input: [UInt8]) throws(BrokenPromise) {
        let name = String(decoding: input, as: UTF8.self)
        guard KeyAlgorithm(SecKeyAlgorithm(rawValue: name as NSString)) != nil else { return }
        let shape = /algid:(sign|encrypt|keyexchange):(ECDSA|RSA|ECIES|ECDH|ECDHC)(:[A-Za-z0-9-]+)*/
        try promise(name.wholeMatch(of: shape) != nil, "\(name) is known")
    }
}
