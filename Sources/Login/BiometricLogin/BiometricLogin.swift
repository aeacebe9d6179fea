// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
@_exported public import WhorlLogin
internal import WhorlService

extension LoginClient {
    /// Creates a client for one server, without sending a request or showing a prompt.
    public init(server: LoginOrigin, transport: any LoginTransport, options: LoginOptions = LoginOptions()) {
        self.init(server: server, transport: transport, options: options) { .current }
    }
}

extension BiometricKeys {
    /// Creates an interface to the key pair with the given name, without creating a key.
    ///
    /// - Parameters:
    ///   - name: 1 to 128 bytes; a different name for each pair.
    ///   - options: The options for creating and using the pair. react-native-biometrics allows the passcode as an
    ///     alternative with `allowDeviceCredentials`; here, it is allowed by default.
    public init(_ name: String = "biometric", options: LoginOptions = LoginOptions()) {
        self.init(name, options: options) { .current }
    }
}
