// SPDX-License-Identifier: Apache-2.0

/// A class of items that the keychain stores.
public enum KeychainClass: String, Sendable, Hashable, CaseIterable, Codable {
    /// Passwords of any kind (`kSecClassGenericPassword`).
    case genericPassword = "genp"
    /// Passwords of servers (`kSecClassInternetPassword`).
    case internetPassword = "inet"
    /// Keys (`kSecClassKey`).
    case key = "keys"
    /// Certificates (`kSecClassCertificate`).
    case certificate = "cert"

    /// The attributes that distinguish two items of a group: Apple's primary keys.
    package var identifying: [String] {
        let own =
            switch self {
            case .genericPassword: ["acct", "svce"]
            case .internetPassword: ["acct", "sdmn", "srvr", "ptcl", "atyp", "port", "path"]
            case .key: ["kcls", "klbl", "crtr", "type", "bsiz", "esiz", "sdat", "edat", "atag"]
            case .certificate: ["ctyp", "issr", "slnr"]
            }
        return own + ["vwht"]
    }
}
