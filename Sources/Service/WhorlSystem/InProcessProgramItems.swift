// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlService
import WhorlStateStore

/// The keychain items of all programs of a profile, in the state of this process.
struct InProcessProgramItems: Sendable {
    let engine: AuthenticationEngine
    let state: ProtectedState

    func add(to table: inout HandlerTable) {
        table.on(list)
        table.on(delete)
    }

    private func list(
        _ asked: ListProgramItems,
        _ prompter: Prompter
    ) async throws(ServiceError) -> ProgramItems {
        var request = EvaluationRequest(
            policy: .deviceOwner,
            purpose: .listItems,
            reason: "list the items of all programs",
            application: asked.request.application,
            timeout: asked.request.timeout
        )
        request.origin = asked.request.origin
        // Without a finger or a passcode, the owner cannot be recognized, and nothing is listed.
        _ = try await engine.evaluate(request, presenter: prompter.presenter)
        return try await rows()?.listed() ?? ProgramItems(programs: [], omitted: 0)
    }

    private func delete(_ asked: DeleteProgramItem) async throws(ServiceError) {
        guard try await rows()?.delete(asked.version) == true else {
            throw ServiceError(
                .noSuchItem,
                message: "The item was changed or deleted in the meantime.",
                recovery: "List the items again."
            )
        }
    }

    private func rows() async throws(ServiceError) -> ProgramRows? {
        try await state.existing().map { ProgramRows($0, of: engine.profile) }
    }
}
