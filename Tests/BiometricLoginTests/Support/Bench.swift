// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import BiometricLogin
import WhorlFingerprint
import LocalAuthenticationTesting
import Testing
import WhorlService

/// A device, a server and a user, as most tests have them.
struct Bench {
    let device: TestDevice
    let server: FakeServer
    let ada: LoginName
    var options = LoginOptions()

    init(fingers: [Finger] = [.rightIndex], passcode: String? = TestDevice.usualPasscode) throws {
        device = TestDevice(fingers: fingers, passcode: passcode)
        server = try FakeServer()
        ada = try user("ada")
    }

    var client: LoginClient { LoginClient(server: server.origin, transport: server, options: options) }
    var password: LoginCredential { .password(secret(FakeServer.password)) }

    /// Enables with one touch.
    @discardableResult
    func enable() async throws -> EnabledLogin {
        device.next(.match)
        return try await client.enable(ada, with: password, deviceName: "ada’s laptop")
    }
}

/// What a call fails with.
func failure<Value>(_ body: () async throws(LoginError) -> Value) async -> LoginError.Code? {
    do throws(LoginError) {
        _ = try await body()
        return nil
    } catch {
        return error.code
    }
}

/// Why the owner was not recognized, where that is what it failed with.
func evaluation(_ code: LoginError.Code?) -> ServiceError.Code? {
    if case .service(let error)? = code { error.code } else { nil }
}
