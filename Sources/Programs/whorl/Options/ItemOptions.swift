// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import WhorlSecretMemory
import WhorlTerminalPrompt
import WhorlService

/// The access control of a new item.
struct AccessOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Who can use it: biometry-any, biometry-current-set, passcode, user-presence or none.",
            discussion:
                "Combine with -or- and -and-; append +application-password, +pcrs:7, +match-on-chip, +two-fingers or +reader:ID",
            valueName: "access"
        )
    )
    var access = "user-presence"

    @OptionGroup var password: ApplicationPasswordOption

    /// Returns the access control, and the application password if the item has one.
    func read() async throws -> (AccessControl, SecretBox?) {
        let control = try AccessControl(access)
        return (control, control.needsApplicationPassword ? try await password.readNew() : nil)
    }
}

/// The access control of a new key that always prompts: a finger, the passcode, or either.
struct PromptedAccessOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Who can use it: biometry-any, biometry-current-set, passcode or user-presence.",
            discussion:
                "Combine with -or- and -and-; append +pcrs:7, +match-on-chip, +two-fingers or +reader:ID",
            valueName: "access"
        )
    )
    var access: String?

    /// Returns the access control: a finger, or the passcode if one is set, unless the option says otherwise.
    ///
    /// - Parameters:
    ///   - session: The command's session.
    ///   - loss: What to do about a key that stops working; the end of a warning.
    /// - Returns: The access control.
    /// - Throws: A usage error if the access control prompts for nothing, or has an application password.
    func read(_ session: Session, loss: String) async throws -> AccessControl {
        let hasPasscode = access == nil ? try await session.isPasscodeSet() : true
        let control = try AccessControl(access ?? (hasPasscode ? "user-presence" : "biometry-any"))
        guard control.asking() != .nothing, !control.needsApplicationPassword else {
            throw Failure.usage(
                "This key requires a finger or the passcode, and no application password.",
                hint: "Use for example --access biometry-any."
            )
        }
        if !hasPasscode {
            session.console.warn("No passcode is set, so only a finger unlocks this key. \(loss)")
        }
        if control.isBoundToCurrentSet {
            session.console.warn("This key stops working when a finger is added or removed. \(loss)")
        }
        return control
    }
}

/// The options for the prompt that is shown before an item is released.
struct ReleaseOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Reason to show in the prompt", valueName: "text"))
    var reason: String?

    @Option(
        help: ArgumentHelp(
            "Accept a touch up to this many seconds old (at most 300), if the item allows it",
            valueName: "seconds"
        )
    )
    var allowReuse: Double = 0

    @Flag(help: "Never prompt; fail unless a recent touch can be reused or none is required")
    var noInteraction = false

    @OptionGroup var passcode: PasscodeOption
    @OptionGroup var password: ApplicationPasswordOption

    func validate() throws {
        guard allowReuse.isFinite, allowReuse >= 0 else {
            throw ValidationError("--allow-reuse must not be negative.")
        }
    }

    /// Requests the content of an item from the vault.
    func release<Value: Sendable>(
        _ id: ItemID,
        _ session: Session,
        patience: Duration,
        otherwise reason: String,
        _ take: (ReleaseRequest, any PromptPresenter) async throws -> Released<Value>
    ) async throws -> Value {
        let evaluation = EvaluationRequest(
            policy: .deviceOwner,
            purpose: .item(id.name.text),
            reason: self.reason ?? reason,
            application: session.services.application,
            // More than 300 s counts as 300 s.
            reuse: .milliseconds(Int64(min(allowReuse, 300) * 1000)),
            interactionAllowed: !noInteraction,
            timeout: patience
        )
        let presenter = session.presenter(handing: try await passcode.preset())
        let released: Released<Value>
        do {
            released = try await take(ReleaseRequest(evaluation), presenter)
        } catch let error as ServiceError where error.code == .applicationPasswordNeeded {
            // This is reported before the owner is prompted.
            let request = ReleaseRequest(evaluation, applicationPassword: try await password.read())
            released = try await take(request, presenter)
        }
        released.evaluations.forEach(session.console.succeeded)
        return released.product
    }
}

extension Session {
    /// Returns the ID of an item in the profile after checking its name.
    func item(_ kind: ItemKind, _ name: String) throws -> ItemID {
        ItemID(kind, try ItemName(name), of: services.profile)
    }

    /// Checks that a TPM is available before the contents of a new item are read.
    func prepareItems() async throws {
        try await services.ask(PrepareVault())
    }

    /// Returns the profile's items of the given kind.
    func items(_ kind: ItemKind) async throws -> [VaultItem] {
        try await services.ask(ListItems()).filter { $0.id.kind == kind }
    }

    /// Deletes an item, and prompts its owner first if the item requires it.
    func delete(
        _ kind: ItemKind,
        _ name: String,
        handing passcode: SecretBox?
    ) async throws -> Answer {
        let id = try item(kind, name)
        try await ask(handing: passcode) { DeleteItem(id, $0) }
        return Answer(result: ["deleted": .string(id.name.text)], text: ["deleted: \(id.name.text)"])
    }
}

extension Answer {
    /// Returns an answer with a list of items.
    static func items(_ items: [VaultItem], as member: String, none: String) -> Answer {
        Answer(
            result: .object([.init(name: member, value: .array(items.map(\.json)))]),
            text: items.isEmpty ? [none] : Table.lines(items.map(\.row))
        )
    }
}

extension VaultItem {
    fileprivate var json: JSONValue {
        [
            "name": .string(id.name.text), "access": .string(access.text),
            "createdAt": .string(createdAt.ISO8601Format()), "valid": isValid,
            "standing": .string(standing.rawValue),
        ]
    }

    /// Whether the item is valid; `null` if that is unknown.
    private var isValid: JSONValue { standing == .unknown ? .null : .bool(standing == .valid) }

    fileprivate var row: [String] {
        let day = createdAt.ISO8601Format(.iso8601.year().month().day())
        let words =
            switch standing {
            case .valid: ""
            case .enrollmentChanged: "unusable: the enrolled fingers changed"
            case .unknown: "unknown: the TPM did not answer"
            case .tampered: "tampered with"
            }
        return [id.name.text, access.text, day, words]
    }
}
