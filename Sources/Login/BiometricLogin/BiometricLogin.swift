// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
@_exported public import WhorlLogin
internal import WhorlService

extension LoginClient {
    /// Makes a client of one server; nothing is opened or sent yet, and there is no prompt.
    public init(server: LoginOrigin, transport: any LoginTransport, options: LoginOptions = LoginOptions()) {
        self.init(server: server, transport: transport, options: options) { .current }
    }
}

extension BiometricKeys {
    /// Makes an interface to the pair of a name; no key is made yet.
    ///
    /// - Parameters:
    ///   - name: 1 to 128 bytes; a different name for each pair.
    ///   - options: The options for making and using it. The package of that name has `allowDeviceCredentials` for the
    ///     passcode as an alternative; here it is on by default.
    public init(_ name: String = "biometric", options: LoginOptions = LoginOptions()) {
        self.init(name, options: options) { .current }
    }
}
