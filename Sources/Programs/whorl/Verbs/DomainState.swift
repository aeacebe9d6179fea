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
        abstract: "Prints what changes when a finger is added or removed.",
        discussion: """
            A program keeps the value and compares it later: another value means another set of fingers, even \
            when a finger was added and removed again. Example:

              before=$(whorl domain-state)
              whorl domain-state --since "$before"
            """
    )

    @Option(help: ArgumentHelp("An earlier value; says what has changed since then.", valueName: "base64"))
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
                "--since takes a value that `whorl domain-state` printed.",
                hint: "It is the Base64 form of 32 bytes, 44 characters."
            )
        }
        return data
    }

    private func answer(_ digest: Data?, _ difference: EnrollmentDifference?) throws -> Answer {
        guard let difference else {
            guard let digest else {
                throw ServiceError(.biometryNotEnrolled, message: "No finger is enrolled.")
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
        guard difference.isKnown else { return ["changed: the earlier value is not known here"] }
        let lines =
            difference.added.map { "added: \($0.rawValue)" }
            + difference.removed.map { "removed: \($0.rawValue)" }
        return lines.isEmpty ? ["changed, and changed back"] : lines
    }
}
