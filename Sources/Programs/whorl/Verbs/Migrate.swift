// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlSecretMemory
import WhorlRemote
import WhorlService

/// The command `whorl migrate`.
struct Migrate: Verb {
    static let asks = Asked.engine
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Copy secrets and keychain items to the system service",
        discussion: """
            First lists what cannot be copied: fingers, the passcode and keys, which you create again in the service. Then you \
            authenticate for each secret, and once for the keychain items of all programs. Access controls are kept. Nothing in the \
            old directory is deleted or changed, and you can run the command again: items that already exist in the service are \
            skipped. Example:

              whorl migrate --dry-run
              whorl enroll right-index-finger
              whorl migrate
            """
    )

    @Flag(help: "Show what would be copied, without copying it")
    var dryRun = false

    @OptionGroup var passcode: PasscodeOption
    @OptionGroup var global: GlobalOptions

    /// A secret that was not copied, and the reason.
    private struct Refused {
        let name: String
        let failure: Failure
    }

    func answer(_ session: Session) async throws -> Answer {
        // The user's own directory, whatever `WHORL_SERVICE` says.
        let own = try session.own()
        return try await moved(from: own, to: try Self.service(), session)
    }

    private func moved(
        from engine: PrivateChildServices,
        to service: Services,
        _ session: Session
    ) async throws -> Answer {
        let keychain = try await keychain(engine, service)
        let own = engine.services
        let plan = try await plan(own, service, hasItems: keychain.stored.count > 0)
        // Before any prompt.
        for rest in plan.rests { tell(rest, session) }
        let items = try await keychain.plan()
        for rest in items.rests { tell(rest, session) }
        guard !dryRun else { return answer(plan, [], [], items, .init()) }
        let preset = try await passcode.preset()
        var moved: [String] = []
        var refused: [Refused] = []
        for item in plan.moves {
            do {
                try await move(item, own, service, session, preset)
                moved.append(item.id.name.text)
            } catch {
                // The user or a signal ends the whole run; any other reason concerns only this secret.
                let failure = Failure(error)
                guard !failure.isCancellation, failure.status != .userCancel else { throw error }
                refused.append(Refused(name: item.id.name.text, failure: failure))
            }
        }
        let outcome = try await keychain.move(
            items,
            .init(
                timeout: global.patience,
                hasOwner: plan.hasOwner,
                presenter: { session.presenter(handing: preset) },
                onAnswer: { session.console.used($0.readerKind) }
            )
        ) { item in
            session.console.event(["event": "moved", "item": item.json])
            session.console.tell("moved: \(item.words)")
        }
        return answer(plan, moved, refused, items, outcome)
    }

    /// Reports something that cannot be copied.
    private func tell(_ rest: MigrationPlan.Rest, _ session: Session) {
        session.console.event(["event": "stays", "stays": rest.json])
        session.console.tell(rest.words)
    }

    private func keychain(
        _ own: PrivateChildServices,
        _ service: Services
    ) async throws -> KeychainMigration {
        KeychainMigration(
            own: own.services,
            stored: try await own.keychainOfAllPrograms(),
            service: service,
            keychain: { try Self.service(for: $0).keychain }
        )
    }

    /// Returns the system service's services for a program.
    ///
    /// - Parameter program: The program whose keychain items are moved; `nil` for this one.
    /// - Returns: The services.
    /// - Throws: An error if no service is available.
    private static func service(for program: String? = nil) throws -> Services {
        var choices = ServiceChoices([:])
        choices.application = program.map(ApplicationID.init(rawValue:))
        return choices.services(over: try ServicePlace.system.transport(choices))
    }

    private func plan(
        _ own: Services,
        _ service: Services,
        hasItems: Bool
    ) async throws -> MigrationPlan {
        let fingers = try await own.ask(ListFingers())
        let items = try await own.ask(ListItems())
        // Without any state, there is no TPM to query.
        let hasState = hasItems || !items.isEmpty || !fingers.isEmpty
        return MigrationPlan(
            own: items,
            service: try await service.ask(ListItems()),
            fingers: fingers.map(\.finger),
            hasPasscode: hasState ? try await own.ask(IsPasscodeSet()) : false
        )
    }

    /// Copies a secret; between the two vaults, it is stored only in locked memory.
    private func move(
        _ item: VaultItem,
        _ own: Services,
        _ service: Services,
        _ session: Session,
        _ preset: SecretBox?
    ) async throws {
        let name = item.id.name
        let request = ReleaseRequest(
            EvaluationRequest(
                policy: .deviceOwner,
                purpose: .item(name.text),
                reason: "move the secret “\(name.text)” to the service",
                application: own.application,
                timeout: global.patience
            )
        )
        let released = try await own.secret(
            in: .named(item.id),
            request,
            presenter: session.presenter(handing: preset)
        )
        for evaluation in released.evaluations { session.console.used(evaluation.readerKind) }
        _ = try await service.ask(
            AddItem(
                ItemID(.secret, name, of: service.profile),
                MakeItem(.secret(released.product), access: item.access, applicationPassword: nil)
            )
        )
        session.console.event(["event": "moved", "name": .string(name.text)])
        session.console.tell("moved: \(name.text)")
    }

    private func answer(
        _ plan: MigrationPlan,
        _ moved: [String],
        _ refused: [Refused],
        _ items: KeychainMigrationPlan,
        _ outcome: KeychainMigration.Outcome
    ) -> Answer {
        let planned = plan.moves.map(\.id.name.text)
        let plannedItems = items.moves.map { KeychainItemName($0.record) }
        let text =
            dryRun
            ? (planned + plannedItems.map(\.words)).map { "would move: \($0)" }
            : refused.map { "not moved: \($0.name): \($0.failure.message) \($0.failure.recovery)" }
                + outcome.refused.map {
                    "not moved: \($0.item.words): \($0.failure.message) \($0.failure.recovery)"
                }
        let there = (plan.there + items.there.map(\.words)).map { "already exists: \($0)" }
        let count = moved.count + outcome.moved.count
        let end =
            dryRun ? "Nothing was moved." : "Moved: \(count) of \(planned.count + plannedItems.count)."
        return Answer(
            result: [
                "dryRun": .bool(dryRun),
                "planned": .array(planned.map(JSONValue.string)),
                "moved": .array(moved.map(JSONValue.string)),
                "there": .array(plan.there.map(JSONValue.string)),
                "stays": .array((plan.rests + items.rests).map(\.json)),
                "failed": .array(
                    refused.map { ["name": .string($0.name), "error": $0.failure.json] }
                ),
                "keychain": [
                    "planned": .array(plannedItems.map(\.json)),
                    "moved": .array(outcome.moved.map(\.json)),
                    "there": .array(items.there.map(\.json)),
                    "failed": .array(
                        outcome.refused.map { ["item": $0.item.json, "error": $0.failure.json] }
                    ),
                ],
            ],
            text: text + there + [end],
            status: refused.isEmpty && outcome.refused.isEmpty ? .success : .failure
        )
    }
}

extension MigrationPlan.Rest {
    fileprivate var json: JSONValue {
        ["kind": .string(kind), "name": .string(name), "reason": .string(reason), "remedy": .string(remedy)]
    }

    fileprivate var words: String {
        let subject = kind == name ? "The \(kind)" : "The \(kind) “\(name)”"
        return "\(subject) is not copied: \(reason). In the service: \(remedy)"
    }
}
