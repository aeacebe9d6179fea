// SPDX-License-Identifier: Apache-2.0

internal import WhorlService

/// Operations that find certificates by their contents, which are stored in their values rather than in columns.
extension Keychain {
    /// Returns the certificates that match a query and its filter.
    ///
    /// Certificates that the TPM has sealed are left out, because only the owner can open them.
    func certificates(
        _ match: inout KeychainMatch,
        _ filter: CertificateFilter,
        _ values: ProtectedValues,
        limit: Int
    ) throws(KeychainError) -> [KeychainRow] {
        let rows = inOrder(try living(&match, values, withValues: true))
        var found: [KeychainRow] = []
        for row in rows where found.count < limit {
            guard case .value(let bytes) = row.contents, let certificate = SecCertificate(bytes),
                filter.covers(certificate),
                try isIssued(certificate.parts.issuer.normalized, by: filter.issuers)
            else { continue }
            found.append(row)
        }
        return found
    }

    /// Returns the rows in order, beginning with those in the program's own group.
    func inOrder(_ rows: [KeychainRow]) -> [KeychainRow] {
        store.groups.flatMap { group in
            rows.filter { $0.record.accessGroup.utf8.elementsEqual(group.utf8) }
        }
    }

    /// Returns whether an issuer is among the wanted issuers, or was certified by one of them through stored
    /// certificates.
    private func isIssued(_ issuer: Data, by wanted: [Data]?) throws(KeychainError) -> Bool {
        guard let wanted else { return true }
        var (issuers, known): ([Data], Set<Data>) = ([issuer], [issuer])
        for _ in 0...Keychain.longestChain {
            if issuers.contains(where: wanted.contains) { return true }
            var next: [Data] = []
            for issuer in issuers {
                for row in try certificates(of: issuer) {
                    guard case .data(let above)? = row.record.attributes["issr"],
                        known.insert(above).inserted
                    else { continue }
                    next.append(above)
                }
            }
            issuers = next
        }
        return false
    }

    /// The maximum number of certificates between a certificate and the wanted issuer, as on Apple's systems.
    private static let longestChain = 10

    private func certificates(of subject: Data) throws(KeychainError) -> [KeychainRow] {
        var match = KeychainMatch(.certificate, groups: store.groups)
        match.attributes["subj"] = .data(subject)
        match.isSynchronizable = nil
        return try store.items(match, withValues: false)
    }
}

/// A filter for certificates by their contents (`kSecMatch…`).
///
/// All conditions must match.
struct CertificateFilter {
    /// The normalized names of issuers, or `nil` for any issuer.
    ///
    /// The issuer of a matching certificate is one of these, or was certified by one of them through certificates in
    /// the keychain.
    private(set) var issuers: [Data]?
    /// The email address that a certificate must contain.
    ///
    /// Certificates without email addresses also match.
    private var emailAddress: String?
    private var subjects: [SubjectRule] = []
    /// The date on which a certificate must be valid.
    private var validOn: Date?
    private var options: String.CompareOptions = []

    /// A string, and the position at which one of the subject's strings must contain it.
    private struct SubjectRule {
        enum Place { case anywhere, start, end, whole }
        let place: Place
        let text: String
    }

    /// Whether every certificate matches.
    var isEmpty: Bool { issuers == nil && emailAddress == nil && subjects.isEmpty && validOn == nil }

    /// Parses a key of the dictionary and its value.
    ///
    /// - Returns: Whether the key belongs to the filter.
    /// - Throws: `errSecParam` for a value of the wrong type.
    mutating func read(_ key: String, _ value: Any) throws(KeychainError) -> Bool {
        switch key {
        case "m_Issuers": issuers = try CertificateFilter.names(value)
        case "m_EmailAddressIfPresent": emailAddress = try CertificateFilter.text(value)
        case "m_SubjectContains": try add(.anywhere, value)
        case "m_SubjectStartsWith": try add(.start, value)
        case "m_SubjectEndsWith": try add(.end, value)
        case "m_SubjectWholeString": try add(.whole, value)
        case "m_ValidOnDate": validOn = try CertificateFilter.date(value)
        case "m_CaseInsensitive": try set(.caseInsensitive, value)
        case "m_DiacriticInsensitive": try set(.diacriticInsensitive, value)
        case "m_WidthInsensitive": try set(.widthInsensitive, value)
        default: return false
        }
        return true
    }

    private mutating func add(_ place: SubjectRule.Place, _ value: Any) throws(KeychainError) {
        subjects.append(SubjectRule(place: place, text: try CertificateFilter.text(value)))
    }

    private mutating func set(_ option: String.CompareOptions, _ value: Any) throws(KeychainError) {
        if try KeychainRequest.flag(value) { options.insert(option) }
    }

    private static func text(_ value: Any) throws(KeychainError) -> String {
        guard let text = DictionaryObjects.text(value), !text.isEmpty,
            text.utf8.count <= KeychainClass.Form.longest
        else { throw KeychainError(errSecParam) }
        return text
    }

    /// Returns the date that a value represents.
    ///
    /// As on Apple's systems, the null object represents the current date.
    private static func date(_ value: Any) throws(KeychainError) -> Date {
        if value is NSNull { return Date() }
        guard let date = value as? Date, date.timeIntervalSince1970.isFinite else {
            throw KeychainError(errSecParam)
        }
        return date
    }

    /// Returns the names that a value contains, in normalized form.
    ///
    /// - Throws: `errSecParam` if the value is not a list of names in DER. On Apple's systems, such a list has no
    ///   effect.
    private static func names(_ value: Any) throws(KeychainError) -> [Data] {
        guard let list = value as? [Any], list.count <= largest else { throw KeychainError(errSecParam) }
        var names: [Data] = []
        for entry in list {
            guard let bytes = entry as? Data, let name = DistinguishedName(bytes) else {
                throw KeychainError(errSecParam)
            }
            names.append(name.normalized)
        }
        return names
    }

    /// The maximum number of issuers.
    private static let largest = 1024

    /// Returns whether a certificate meets all conditions except the issuer.
    func covers(_ certificate: SecCertificate) -> Bool {
        let parts = certificate.parts
        if let emailAddress {
            // If the addresses cannot be read, the certificate neither has the address nor counts as having none.
            guard let addresses = parts.emailAddresses,
                addresses.isEmpty
                    || addresses.contains(where: {
                        $0.compare(emailAddress, options: .caseInsensitive) == .orderedSame
                    })
            else { return false }
        }
        if let validOn {
            guard let notBefore = parts.notBefore, let notAfter = parts.notAfter,
                notBefore <= validOn, validOn <= notAfter
            else { return false }
        }
        let texts = parts.subject.texts
        return subjects.allSatisfy { rule in texts.contains { holds(rule, in: $0) } }
    }

    private func holds(_ rule: SubjectRule, in text: String) -> Bool {
        switch rule.place {
        case .anywhere: text.range(of: rule.text, options: options) != nil
        case .start: text.range(of: rule.text, options: options.union(.anchored)) != nil
        case .end: text.range(of: rule.text, options: options.union([.anchored, .backwards])) != nil
        case .whole: text.compare(rule.text, options: options) == .orderedSame
        }
    }
}
