// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlFingerprint
import FoundationEssentials
import WhorlService

/// The command `whorl domain-state`.
struct DomainState: Verb {
    static let asks = Asked.engine
    static let configuration = CommandConfiguration(
        commandName: "domain-state",
        abstract: "Print a digest of the enrolled fingers",
        discussion: """
            The digest changes whenever a finger is added or removed, even if the change is undone later. A program can store it \
            and compare it with the current one. Example:

              before=$(whorl domain-state)
              whorl domain-state --since "$before"
            """
    )

    @Option(help: ArgumentHelp("Show what changed since this earlier digest", valueName: "base64"))
    var since: String?

    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws -> Answer {
        let earlier = try decodedSince()
        let services = session.services
        let state = try await services.ask(ReadEnrollmentState(for: services.application))
        guard let earlier else { return try answer(state?.digest, nil) }
        let difference = try await services.ask(
            CompareFingers(since: earlier, for: services.application)
        )
        return try answer(state?.digest, difference)
    }

    private func decodedSince() throws(Failure) -> Data? {
        guard let since else { return nil }
        guard let data = Data(base64Encoded: since), data.count == 32 else {
            throw .usage(
                "Invalid digest in --since.",
                hint: "Use a value printed by `whorl domain-state`: 44 characters of Base64."
            )
        }
        return data
    }

    private func answer(_ digest: Data?, _ difference: EnrollmentDifference?) throws -> Answer {
        guard let difference else {
            guard let digest else {
                throw ServiceError(.biometryNotEnrolled, message: "No fingers enrolled.")
            }
            let text = digest.base64EncodedString()
            return Answer(result: ["domainState": .string(text)], text: [text])
        }
        let text = digest?.base64EncodedString()
        return Answer(
            result: [
                "domainState": text.map(JSONValue.string) ?? .null,
                "changed": .bool(difference.changed),
                "added": .strings(difference.added.map(\.rawValue)),
                "removed": .strings(difference.removed.map(\.rawValue)),
            ],
            text: [text ?? "none"] + words(for: difference)
        )
    }

    private func words(for difference: EnrollmentDifference) -> [String] {
        guard difference.changed else { return ["unchanged"] }
        guard difference.isKnown else { return ["changed: the earlier digest is unknown here"] }
        let lines =
            difference.added.map { "added: \($0.rawValue)" }
            + difference.removed.map { "removed: \($0.rawValue)" }
        return lines.isEmpty ? ["changed, and changed back"] : lines
    }
}
