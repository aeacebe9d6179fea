// SPDX-License-Identifier: Apache-2.0

internal import WhorlService

/// Finding certificates by their contents, which are in their values and in no column.
extension Keychain {
    /// Returns the certificates that a query selects and its filter lets through.
    ///
    /// A certificate that the chip seals cannot be read without its owner and is left out.
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

    /// Returns the rows with those of the program's own group first.
    func inOrder(_ rows: [KeychainRow]) -> [KeychainRow] {
        store.groups.flatMap { group in
            rows.filter { $0.record.accessGroup.utf8.elementsEqual(group.utf8) }
        }
    }

    /// Whether an issuer is one of those wanted, or was certified by one of them through certificates of the keychain.
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

    /// The largest number of certificates between a certificate and the wanted issuer, as on Apple's systems.
    private static let longestChain = 10

    private func certificates(of subject: Data) throws(KeychainError) -> [KeychainRow] {
        var match = KeychainMatch(.certificate, groups: store.groups)
        match.attributes["subj"] = .data(subject)
        match.isSynchronizable = nil
        return try store.items(match, withValues: false)
    }
}
