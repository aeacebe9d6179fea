// SPDX-License-Identifier: Apache-2.0

package import WhorlService
import WhorlSSH
import WhorlSupport
import WhorlVault

/// The hosts at which SSH keys sign in.
extension AuthenticationEngine {
    /// Prompts for the owner, naming the hosts, and replaces the pins of an SSH key.
    ///
    /// - Throws: `sshRequestRefused` before a prompt is shown if the pins are not valid; `noSuchItem`; the reason why the
    ///   owner was not authenticated.
    @concurrent
    package func pin(_ asked: PinSSHKey, presenter: any PromptPresenter) async throws(ServiceError) {
        let id = asked.id
        guard id.kind == .sshKey, id.profile == profile, let vault = try await self.vault.vaultInChip() else {
            throw ServiceError(.noSuchItem, id.spoken)
        }
        let hosts = try asked.pins.map { pin throws(ServiceError) in try Self.shown(pin, of: id) }
        guard hosts.count <= SSHKeyRules.mostPins, Set(asked.pins.map(\.key)).count == hosts.count else {
            throw Self.refusal(id, "it has too many hosts, or one of them twice")
        }
        // Only a key that exists is worth a touch.
        _ = try await vault.rules(of: id)
        let text = hosts.isEmpty ? "*" : Self.list(hosts)
        try await requireOwner(
            for: .sshPins("\(SSHStatement.word(id.name.text)): \(text)"),
            to: "change the hosts of the \(id.spoken) to: \(text)",
            asked.request,
            presenter: presenter
        )
        try await vault.pin(id, to: asked.pins)
    }

    /// Returns the hosts as a prompt shows them: up to three with their fingerprints, and the number of the others.
    private static func list(_ hosts: [String]) -> String {
        let shown = hosts.prefix(3).joined(separator: ", ")
        return hosts.count > 3 ? "\(shown) … +\(hosts.count - 3)" : shown
    }

    private static func shown(_ pin: SSHPin, of id: ItemID) throws(ServiceError) -> String {
        let name = SSHStatement.word(pin.name)
        guard pin.key.count <= SSHPin.longestKey, let key = SSHPublicKey(blob: pin.key), name == pin.name,
            !name.isEmpty
        else { throw refusal(id, "the name or key of a host is not valid") }
        // With such a pin, the key would sign in nowhere.
        guard key.check([], over: []) != .cannotVerify else {
            throw refusal(id, "host keys of the type \(key.type) cannot be verified")
        }
        return "\(name) (\(key.fingerprint))"
    }

    private static func refusal(_ id: ItemID, _ reason: String) -> ServiceError {
        ServiceError(.sshRequestRefused, id.spoken, details: [.reason: reason])
    }
}
