// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
@_exported public import WhorlLogin
internal import WhorlService

extension LoginClient {
    /// Creates a client for one server; sends nothing yet and shows no prompt.
    public init(server: LoginOrigin, transport: any LoginTransport, options: LoginOptions = LoginOptions()) {
        self.init(server: server, transport: transport, options: options) { .current }
    }
}

extension BiometricKeys {
    /// Creates an interface to the key pair with a name; no key is created yet.
    ///
    /// - Parameters:
    ///   - name: 1 to 128 bytes; a different name for each pair.
    ///   - options: The options for creating and using the pair. The package of that name uses `allowDeviceCredentials`
    ///     for the passcode as an alternative; here it is on by default.
    public init(_ name: String = "biometric", options: LoginOptions = LoginOptions()) {
        self.init(name, options: options) { .current }
    }
}
