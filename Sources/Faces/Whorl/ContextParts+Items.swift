// SPDX-License-Identifier: Apache-2.0

import WhorlContext
import WhorlService

/// The user's named items.
extension ContextParts {
    /// Returns the identity of an item.
    ///
    /// - Throws: `nameRefused`.
    func item(_ kind: ItemKind, _ name: String) throws(ServiceError) -> ItemID {
        ItemID(kind, try ItemName(name), of: profile)
    }

    func items(_ kind: ItemKind) async throws(ServiceError) -> [VaultItem] {
        let all: [VaultItem] = try await ask(ListItems())
        return all.filter { $0.id.kind == kind }
    }

    func release(_ name: String, _ reason: String) -> ReleaseRequest {
        ReleaseRequest(
            EvaluationRequest(
                policy: .deviceOwner,
                purpose: .item(name),
                reason: reason,
                application: application
            )
        )
    }

    func delete(
        _ kind: ItemKind,
        _ name: String,
        _ presenter: (any PromptPresenter)?
    ) async throws(ServiceError) {
        let request = ConsentRequest(application: application)
        _ = try await ask(
            DeleteItem(try item(kind, name), request),
            presenter: presenter ?? self.presenter
        )
    }
}
