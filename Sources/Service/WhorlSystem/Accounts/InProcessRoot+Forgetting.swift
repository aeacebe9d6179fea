// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlEnrollment
import WhorlService

extension InProcessRoot {
    /// The name of the program in the log of readers' work.
    private static let remover = ApplicationID(rawValue: "whorl account remove")

    /// Removes what an account has outside of its state folder: prints in readers, and counters in the TPM.
    ///
    /// A reader or a TPM that is not connected keeps what it has; without the folder it opens nothing and is no one's.
    ///
    /// - Returns: A sentence for each thing that stayed.
    package func forgetOwner() async -> [String] {
        var stayed: [String] = []
        do throws(ServiceError) {
            try await forgetFingers()
        } catch {
            stayed.append("prints in a reader were not removed (\(error))")
        }
        do throws(ServiceError) {
            _ = try await services.ask(ResetVault(withoutChip: true))
        } catch {
            stayed.append("counters in the TPM were not removed (\(error))")
        }
        await services.close()
        return stayed
    }

    private func forgetFingers() async throws(ServiceError) {
        guard let store = try await engine.state.existingStore() else { return }
        let consent = try await engine.consentOfAccount(to: .remove(.all), for: Self.remover) { _ in true }
        // Without a list of readers, the fingers are removed all the same.
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
