// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlEnrollment
import WhorlService

extension InProcessRoot {
    /// Prompts the owner to consent to the deletion of everything that is stored, as ``forgetOwner()`` and the caller do
    /// afterwards.
    ///
    /// - Throws: The reason why the owner did not consent.
    package func requireOwnerToForget(
        _ request: ConsentRequest,
        _ presenter: any PromptPresenter
    ) async throws(ServiceError) {
        try await engine.requireOwner(
            for: .deleteEverything,
            to: "delete everything that is stored for you",
            request,
            presenter: presenter
        )
    }

    /// The name under which this program appears in the log of reader operations.
    private static let remover = ApplicationID(rawValue: "whorl account remove")

    /// Removes an account's data that is stored outside its state folder: prints in readers and counters in the TPM.
    ///
    /// A disconnected reader or TPM keeps its data. Without the folder, this data cannot unlock anything and does not
    /// belong to anyone.
    ///
    /// - Returns: A sentence for each remaining piece of data.
    package func forgetOwner() async -> [String] {
        var stayed: [String] = []
        do throws(ServiceError) {
            try await forgetFingers()
        } catch {
            stayed.append("prints in a reader were not removed (\(error))")
        }
        do throws(ServiceError) {
            try await InProcessMaintenance(engine: engine, state: state, chip: chip).forget()
        } catch {
            stayed.append("counters in the TPM were not removed (\(error))")
        }
        await services.close()
        return stayed
    }

    private func forgetFingers() async throws(ServiceError) {
        guard let store = try await engine.state.existingStore() else { return }
        let consent = try await engine.consentOfAccount(to: .remove(.all), for: Self.remover) { _ in true }
        // Without a list of readers, the fingers are removed anyway.
        let readers = (try? await services.readers.readers()) ?? []
        _ = try await engine.enroller(store, for: Self.remover).remove(
            .all,
            profile: profile,
            readers: readers,
            force: true,
            consent: consent
        )
    }
}
