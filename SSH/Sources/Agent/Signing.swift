// SPDX-License-Identifier: Apache-2.0

internal import CAgent
internal import CWhorl

/// A request to sign, for which the service prompts the owner.
final class Signing {
    /// The maximum number of bytes to sign.
    ///
    /// A login with a large certificate has a tenth of it.
    static let longestData = 32_768
    /// The maximum number of bytes of a connection's binds together.
    static let longestBinds = 32_768

    /// The result of processing what has arrived.
    enum Progress {
        case waiting
        /// The signature in SSH's encoding.
        case signature(Bytes)
        /// The code of the error, and a sentence for the user.
        case refused(Bytes, Bytes)
    }

    /// The name of the key.
    let name: Bytes
    private let link: Link

    /// A client's request.
    struct Asked {
        let key: Key
        let data: Bytes
        /// The binds of the connection.
        let binds: [Bytes]
        /// The key of the host that the last bind names.
        let hostKey: Bytes?
        /// The client's process, as a process descriptor, of which the service gets a copy.
        let process: Int32
        let pid: Int32
    }

    /// Sends the request; `nil` if the service is not running.
    init?(_ asked: Asked, service: Bytes, watch: Int32, number: UInt64) {
        guard let link = Link(path: service, watch: watch, number: number) else { return nil }
        self.link = link
        name = asked.key.name
        let copy = agent_duplicate(asked.process)
        guard copy >= 0, link.send(Self.call(asked), file: copy) else {
            link.end()
            return nil
        }
    }

    /// Ends the request; the service ends its prompt.
    func end() { link.end() }

    func proceed() -> Progress {
        while true {
            switch link.receive() {
            case .nothing: return .waiting
            case .end, .nonsense:
                return .refused(Bytes("noService"), Bytes("The fingerprint service did not reply."))
            case .message(let reply):
                let parameters = reply["parameters"]
                if reply.has("error") {
                    return .refused(
                        parameters?["code"]?.text ?? [],
                        (parameters?["message"]?.text ?? []).shown
                    )
                }
                if reply["continues"]?.flag == true { continue }
                guard let signature = parameters?["value"]?["value"]?.bytes, !signature.isEmpty else {
                    return .refused(Bytes("noService"), Bytes("The fingerprint service sent no signature."))
                }
                return .signature(signature)
            }
        }
    }

    private static func call(_ asked: Asked) -> Bytes {
        var call = Bytes(#"{"method":"io.whorl.Items.SignForSSH","more":true,"parameters":{"call":{"id":"#)
        call.append(contentsOf: KeyList.item(asked.key.name))
        call.append(#","data":"#)
        call.append(base64: asked.data)
        call.append(#","binds":["#)
        for (place, bind) in asked.binds.enumerated() {
            if place > 0 { call.append(",") }
            call.append(base64: bind)
        }
        call.append("]")
        if let hostKey = asked.hostKey {
            let claims = HostClaims(hostKey: hostKey, pid: asked.pid)
            call.append(#","hosts":{"knownHosts":"#)
            call.append(base64: claims.lines)
            call.append(#","candidates":["#)
            for (place, candidate) in claims.candidates.enumerated() {
                if place > 0 { call.append(",") }
                call.append(text: candidate)
            }
            call.append("]}")
        }
        // A minute less than sshd's LoginGraceTime, after which the login fails in any case.
        call.append(#","client":0,"request":{"application":"ssh","timeoutMilliseconds":60000}},"#)
        call.append(#""presenter":{"isInteractive":false,"takesPasscode":false}}}"#)
        return call
    }
}
