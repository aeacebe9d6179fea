// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
import WhorlService

/// The keyring that a login by touch opens, in a service.
struct RemoteKeyring: KeyringService {
    let client: ServiceClient

    func status() async throws(VaultError) -> KeyringStatus {
        try await client.call(KeyringInterface.status, NoValue(), failing: VaultError.self).parameters.value
    }

    func turnOn(_ request: ConsentRequest, presenter: any PromptPresenter) async throws(ReleaseError) {
        _ = try await client.callPrompting(
            KeyringInterface.turnOn,
            .init(request: request),
            presenter: presenter,
            failing: ReleaseError.self
        )
    }

    func turnOff() async throws(VaultError) {
        _ = try await client.call(KeyringInterface.turnOff, NoValue(), failing: VaultError.self)
    }
}
