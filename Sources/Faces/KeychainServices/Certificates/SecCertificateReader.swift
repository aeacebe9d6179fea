// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// The fields of a certificate (RFC 5280, 4.1) that the keychain needs.
///
/// The encoding must be strict DER. Trust in the certificate is not evaluated.
struct CertificateReader: Sendable {
    /// The maximum size of a certificate in bytes.
    static let largest = 1 << 20

    /// The X.509 version, 1 to 3.
    let version: Int
    /// The encoded bytes of the serial number, in big-endian two's complement.
    let serialNumber: Data
    let issuer: DistinguishedName
    let subject: DistinguishedName
    /// The start of the validity period, or `nil` if it is not encoded as RFC 5280 requires.
    let notBefore: Date?
    /// The end of the validity period, or `nil` if it is not encoded as RFC 5280 requires.
    let notAfter: Date?
    /// The `SubjectPublicKeyInfo` in DER.
    let publicKeyInfo: Data
    /// The bits of the public key.
    let publicKey: Data
    /// The extensions that the keychain reads.
    let extensions: CertificateExtensions

    /// The email addresses of the subject, or `nil` if the subject's alternative names cannot be read.
    var emailAddresses: [String]? { extensions.emailAddresses.map { $0 + subject.emailAddresses } }

    /// Parses an X.509 certificate in DER, or returns `nil` for anything else.
    init?(_ bytes: Data) {
        guard bytes.count <= CertificateReader.largest else { return nil }
        do {
            try self.init(DER.parse([UInt8](bytes)))
        } catch {
            return nil
        }
    }

    private init(_ root: ASN1Node) throws {
        var certificate = try root.fields(.sequence)
        var body = try certificate.next().fields(.sequence)
        let algorithm = try certificate.next()
        try certificate.next().expect(.bitString)
        try certificate.end()

        version = try body.take(.explicit(0)).map { try $0.onlyNumber() + 1 } ?? 1
        serialNumber = Data(try body.next().value(.integer))
        // The signature algorithm appears twice, and its second occurrence is not signed.
        guard try body.next().encodedBytes == algorithm.encodedBytes else { throw Malformed() }
        issuer = try DistinguishedName(body.next())
        var validity = try body.next().fields(.sequence)
        (notBefore, notAfter) = try (validity.next().time, validity.next().time)
        try validity.end()
        subject = try DistinguishedName(body.next())
        let info = try body.next()
        publicKeyInfo = Data(info.encodedBytes)
        var key = try info.fields(.sequence)
        try key.next().expect(.sequence)
        let bits = try key.next().value(.bitString)
        try key.end()
        guard bits.first == 0 else { throw Malformed() }
        publicKey = Data(bits.dropFirst())
        _ = try (body.take(.implicit(1)), body.take(.implicit(2)))
        extensions =
            try body.take(.explicit(3)).map { try CertificateExtensions($0) } ?? CertificateExtensions()
        try body.end()
        guard (1...3).contains(version), !serialNumber.isEmpty else { throw Malformed() }
    }
}

/// An error for data that is not encoded as expected.
struct Malformed: Error {}

extension ASN1Identifier {
    fileprivate static func explicit(_ number: UInt) -> ASN1Identifier {
        ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
    }
    fileprivate static func implicit(_ number: UInt) -> ASN1Identifier { explicit(number) }
}

/// The child nodes of a constructed node, read in order.
struct ASN1Fields {
    private var rest: ASN1NodeCollection.Iterator
    private var peeked: ASN1Node?

    fileprivate init(_ nodes: ASN1NodeCollection) {
        rest = nodes.makeIterator()
        peeked = rest.next()
    }

    mutating func nextOrNone() -> ASN1Node? {
        defer { peeked = rest.next() }
        return peeked
    }

    mutating func next() throws -> ASN1Node {
        guard let node = nextOrNone() else { throw Malformed() }
        return node
    }

    /// Reads the next node if it has this tag.
    mutating func take(_ identifier: ASN1Identifier) throws -> ASN1Node? {
        guard let peeked, peeked.identifier == identifier else { return nil }
        return try next()
    }

    func end() throws { guard peeked == nil else { throw Malformed() } }
}

extension ASN1Node {
    /// Returns the number in the node (0 to 127), which must be the node's only content.
    fileprivate func onlyNumber() throws -> Int {
        var numbers = try fields(identifier)
        let bytes = try numbers.next().value(.integer)
        try numbers.end()
        guard bytes.count == 1, let byte = bytes.first, byte < 0x80 else { throw Malformed() }
        return Int(byte)
    }

    func expect(_ wanted: ASN1Identifier) throws {
        guard identifier == wanted else { throw Malformed() }
    }

    func fields(_ wanted: ASN1Identifier) throws -> ASN1Fields {
        try expect(wanted)
        guard case .constructed(let nodes) = content else { throw Malformed() }
        return ASN1Fields(nodes)
    }

    func value(_ wanted: ASN1Identifier) throws -> ArraySlice<UInt8> {
        try expect(wanted)
        guard case .primitive(let bytes) = content else { throw Malformed() }
        return bytes
    }
}

/// The extensions of a certificate (RFC 5280, 4.2) that the keychain reads.
struct CertificateExtensions: Sendable {
    /// The identifier of the subject's key, if the certificate has one.
    private(set) var subjectKeyID: Data?
    /// The email addresses among the subject's alternative names, or `nil` if those names cannot be read.
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

    /// Parses `GeneralNames ::= SEQUENCE OF CHOICE { rfc822Name [1] IA5String … }`.
    ///
    /// A certificate is accepted even if its alternative names cannot be read.
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
    /// The date that a `Time` represents (RFC 5280, 4.1.2.5), or `nil` for any other value.
    var time: Date? {
        // A value that is not a valid DER time is left out. The certificate's validity is then unknown.
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
    /// Creates a date from its components in the Gregorian calendar, in UTC.
    ///
    /// The caller must ensure that all components are in range.
    fileprivate init(_ year: Int, _ month: Int, _ day: Int, _ hours: Int, _ minutes: Int, _ seconds: Int) {
        // The year starts in March, so that the leap day is its last day.
        let years = month > 2 ? year : year - 1
        let days = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        // 1 March of the year 0 is 719,468 days before 1970.
        let sinceEpoch = 365 * years + years / 4 - years / 100 + years / 400 + days - 719_468
        self.init(timeIntervalSince1970: Double(sinceEpoch * 86_400 + hours * 3600 + minutes * 60 + seconds))
    }
}
