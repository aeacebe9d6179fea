// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// The extensions of a certificate (RFC 5280, 4.2) that the keychain reads.
struct CertificateExtensions: Sendable {
    /// The identifier of the subject's key, if the certificate has one.
    private(set) var subjectKeyID: Data?
    /// The e-mail addresses among the subject's alternative names; `nil` if those names cannot be read.
    private(set) var emailAddresses: [String]? = []

    init() {}

    /// Reads `[3] SEQUENCE OF SEQUENCE { OID, BOOLEAN?, OCTET STRING }`.
    init(_ node: ASN1Node) throws {
        var wrapper = try node.fields(node.identifier)
        var extensions = try wrapper.next().fields(.sequence)
        try wrapper.end()
        while let entry = extensions.nextOrNone() {
            var parts = try entry.fields(.sequence)
            let name = try parts.next().value(.objectIdentifier)
            _ = try parts.take(.boolean)
            let value = try parts.next().value(.octetString)
            try parts.end()
            switch Array(name) {
            case [0x55, 0x1d, 0x0e]: subjectKeyID = Data(try DER.parse(Array(value)).value(.octetString))
            case [0x55, 0x1d, 0x11]: addNames(Array(value))
            default: break
            }
        }
    }

    /// Reads `GeneralNames ::= SEQUENCE OF CHOICE { rfc822Name [1] IA5String … }`; a certificate whose names cannot be
    /// read is a certificate all the same.
    private mutating func addNames(_ encoded: [UInt8]) {
        do {
            var names = try DER.parse(encoded).fields(.sequence)
            while let name = names.nextOrNone() {
                let email = ASN1Identifier(tagWithNumber: 1, tagClass: .contextSpecific)
                guard name.identifier == email else { continue }
                let bytes = try name.value(email)
                guard bytes.allSatisfy({ $0 < 0x80 }), let text = String(validating: bytes, as: UTF8.self)
                else {
                    throw Malformed()
                }
                emailAddresses?.append(text)
            }
        } catch {
            emailAddresses = nil
        }
    }
}

extension ASN1Node {
    /// The instant of a `Time` (RFC 5280, 4.1.2.5); `nil` for any other value.
    var time: Date? {
        // A value that is not a time of DER is left out; the certificate is then valid at no time that is known.
        switch identifier {
        case .utcTime:
            guard let time = try? UTCTime(derEncoded: self, withIdentifier: .utcTime) else { return nil }
            return Date(time.year, time.month, time.day, time.hours, time.minutes, time.seconds)
        case .generalizedTime:
            guard let time = try? GeneralizedTime(derEncoded: self, withIdentifier: .generalizedTime) else {
                return nil
            }
            return Date(time.year, time.month, time.day, time.hours, time.minutes, time.seconds)
        default: return nil
        }
    }
}

extension Date {
    /// The instant of a date of the Gregorian calendar in UTC, whose parts are in their ranges.
    fileprivate init(_ year: Int, _ month: Int, _ day: Int, _ hours: Int, _ minutes: Int, _ seconds: Int) {
        // The year begins in March, so that the leap day is its last day.
        let years = month > 2 ? year : year - 1
        let days = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        // 1 March of the year 0 is 719,468 days before 1970.
        let sinceEpoch = 365 * years + years / 4 - years / 100 + years / 400 + days - 719_468
        self.init(timeIntervalSince1970: Double(sinceEpoch * 86_400 + hours * 3600 + minutes * 60 + seconds))
    }
}
