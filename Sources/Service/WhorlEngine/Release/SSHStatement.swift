// SPDX-License-Identifier: Apache-2.0

import WhorlSSH
import WhorlService
import WhorlSupport

/// The statement that a prompt makes about a request of SSH.
struct SSHStatement {
    /// The purpose that the prompt shows.
    let purpose: TouchPurpose
    /// Whether the request was not forwarded.
    private let isDirect: Bool

    /// Whether the purpose names all that matters, so that a touch may count for another request with the same one.
    ///
    /// Texts with the same characters can have different bytes, except in ASCII.
    var isRepeatable: Bool {
        switch purpose {
        case .sshLogin(let name), .sshSignature(let name): isDirect && name.utf8.allSatisfy { $0 < 0x80 }
        case .gitSignature: isDirect
        default: false
        }
    }

    /// The statement in English, for the owner's log.
    var text: String {
        switch purpose {
        case .sshLogin(let host): "sign in as \(host)"
        case .sshLoginBound(let host): "sign in as \(host), not bound to this host"
        case .sshLoginUnproven(let user): "sign in as \(user) at an unknown host"
        case .gitSignature: "sign a commit or tag of git"
        case .sshSignature(let use): "sign data for \(use)"
        case .sshAuthentication(let use): "authenticate on another computer: \(use)"
        case .sshUnknownData: "sign data of unknown meaning"
        default: purpose.code
        }
    }

    /// Verifies the binds of a request and parses its bytes.
    ///
    /// - Throws: `sshRequestRefused` if the bytes have no meaning, contradict the binds, or are not allowed by the key's
    ///   rules.
    init(_ asked: SignForSSH, _ key: SSHPublicKey, _ rules: SSHKeyRules) throws(ServiceError) {
        func refusal(_ reason: String) -> ServiceError {
            ServiceError(.sshRequestRefused, asked.id.spoken, details: [.reason: reason])
        }
        /// Returns a name from the request as a prompt shows it, which must not be that of another name as well.
        func shown(_ name: String) throws(ServiceError) -> String {
            guard name.unicodeScalars.count <= Self.longestName,
                DisplayText.word(name, limit: Self.longestName).utf8.elementsEqual(name.utf8)
            else { throw refusal("a name in it cannot be shown as it is") }
            // What follows the last @ is the host.
            return name.contains("@") ? "“\(name)”" : name
        }
        guard asked.binds.count <= SignForSSH.mostBinds else {
            throw refusal("it has too many session binds")
        }
        var binds = SSHSessionBinds()
        for contents in asked.binds {
            do throws(SSHBindFault) {
                try binds.add(contents)
            } catch {
                // The binds themselves remember the fault, which makes the way unknown.
                continue
            }
        }
        let way = Self.way(binds)
        isDirect = way.isEmpty
        switch SSHSigningRequest([UInt8](asked.data), signedBy: key) {
        case .unknown:
            guard rules.allowsUnknownData, rules.pins.isEmpty else { throw refusal("its meaning is unknown") }
            purpose = .sshUnknownData(Self.word(asked.id.name.text) + way)
        case .login(let login):
            let proof: SSHHostProof
            do throws(SSHLoginFault) {
                proof = try binds.host(of: login)
            } catch {
                throw refusal("it contradicts its SSH session (\(error))")
            }
            let user = try shown(login.user)
            if !rules.pins.isEmpty {
                guard case .hostBound(let host) = proof else {
                    throw refusal("the key is only for certain hosts, and the host is not proven")
                }
                guard let pin = rules.pins.first(where: { $0.key.elementsEqual(host.blob) }) else {
                    throw refusal("the key is not for the host \(host.fingerprint)")
                }
                purpose = .sshLogin("\(user)@\(Self.word(pin.name)) (\(host.fingerprint))" + way)
                return
            }
            purpose =
                switch proof {
                case .hostBound(let host): .sshLogin(user + "@" + Self.name(host, asked.hosts) + way)
                case .bound(let host): .sshLoginBound(user + "@" + Self.name(host, asked.hosts) + way)
                case .notProven: .sshLoginUnproven(user + way)
                }
        case .signature(let signature):
            purpose =
                signature.isOfGit && way.isEmpty
                ? .gitSignature : .sshSignature(try shown(signature.namespace) + way)
        case .authentication(let request):
            // Nothing proves for which host it is.
            guard rules.pins.isEmpty else { throw refusal("the key is only for logins at certain hosts") }
            let (user, service) = (try shown(request.user), try shown(request.service))
            purpose = .sshAuthentication("\(user) (\(service))" + way)
        }
    }

    /// Returns the fingerprint of a host, and the name that the agent's claims give it, if any.
    ///
    /// A program of the user can claim any name, and change the files of known hosts: the name is no proof.
    private static func name(_ host: SSHPublicKey, _ claims: SSHHostClaims?) -> String {
        guard let claims, claims.knownHosts.count <= SSHHostClaims.most.bytes else { return host.fingerprint }
        let known = SSHKnownHosts(claims.knownHosts)
        let name =
            known.names(of: host).first
            ?? SSHHostName.all(claims.candidates.prefix(SSHHostClaims.most.candidates))
            .first { known.isKey(host, of: $0) }?.text
        guard let name, !known.isRevoked(host) else { return host.fingerprint }
        return "\(host.fingerprint) (known_hosts: \(word(name.filter { $0 != "[" && $0 != "]" })))"
    }

    /// Returns the end of a name that says through which hosts a request came; empty if no bind names one.
    ///
    /// Of many hops, the nearest and the last are named, since the requesting program runs on the last one. A question
    /// mark stands for the hop that a refused bind may have been.
    private static func way(_ binds: SSHSessionBinds) -> String {
        let hops = binds.accepted.filter(\.isForwarding).map(\.hostKey)
        let named = hops.count > 2 ? [hops[0], hops[hops.count - 1]] : hops
        let known = named.map { " via " + $0.fingerprint }.joined(separator: hops.count > 2 ? " …" : "")
        return binds.forwarding == .unknown && binds.firstFault != nil ? known + " via ?" : known
    }

    /// The maximum number of characters of a user, namespace or service.
    private static let longestName = 128

    /// Returns a name as one word without `@`, so that it cannot look like the host that follows it.
    static func word(_ name: String) -> String {
        DisplayText.word(name, limit: 64).replacing("@", with: "_")
    }
}

extension SSHHostName {
    /// Returns the hosts that words may mean in the arguments of ssh(1) or in ssh_config(5): `host`, `user@host`,
    /// `[host]:port` and URLs, each also with a port that is a word of its own.
    fileprivate static func all(_ words: some Collection<String>) -> [SSHHostName] {
        let ports = [22] + words.compactMap { UInt16($0) }.prefix(4)
        return words.flatMap { word in
            var rest = word[...]
            if rest.hasPrefix("ssh://") { rest = rest.dropFirst("ssh://".count) }
            rest = rest.prefix { $0 != "/" }
            if let at = rest.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
            var own: UInt16?
            if let colon = rest.lastIndex(of: ":"), let port = UInt16(rest[rest.index(after: colon)...]) {
                own = port
                rest = rest[..<colon]
            }
            let host = String(rest.drop { $0 == "[" }.prefix { $0 != "]" })
            return (own.map { [$0] } ?? ports).compactMap { SSHHostName(host, port: $0) }
        }
    }
}
