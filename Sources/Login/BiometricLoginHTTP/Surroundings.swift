// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LoginAssertion

/// The environment variables of the process that affect libcurl.
enum Surroundings {
    /// Whether a request goes directly to the server, and to no other.
    ///
    /// Unencrypted requests go only to this machine (`LoginOrigin`), so they must not go through a proxy; encrypted
    /// ones may, since the certificate is the server's.
    static func areSound(for origin: LoginOrigin) -> Bool {
        guard origin.text.hasPrefix("http:") else { return true }
        let variables = ProcessInfo.processInfo.environment
        return URLSessionTransport.proxies.allSatisfy { variables[$0]?.isEmpty ?? true }
    }
}
