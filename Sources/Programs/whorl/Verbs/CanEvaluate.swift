// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import WhorlService

/// The command `whorl can-evaluate`.
struct CanEvaluate: Verb {
    static let configuration = CommandConfiguration(
        commandName: "can-evaluate",
        abstract: "Says whether an evaluation could succeed now; never prompts.",
        discussion: """
            The status says why not: 15 no reader, 16 no finger enrolled, 17 locked. Example:

              whorl can-evaluate && whorl evaluate --reason "unlock the vault"
            """
    )

    @Option(help: "What must be shown: a finger, or the owner's finger or passcode.")
    var policy = Policy.biometrics

    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws(Failure) -> Answer {
        let services = session.services
        let preflight = await services.owner.preflight(policy, for: services.application)
        session.console.used(preflight.readerKind)
        if let obstacle = preflight.obstacle { throw Failure(obstacle) }
        return Answer(
            result: [
                "canEvaluate": true,
                "biometryType": preflight.hasReader ? "touchID" : "none",
                "domainState": preflight.domainState.map { .string($0.base64EncodedString()) } ?? .null,
            ],
            text: ["yes"]
        )
    }
}
