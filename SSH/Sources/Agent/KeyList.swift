// SPDX-License-Identifier: Apache-2.0

internal import CWhorl

/// Reads the names and public keys of the user's SSH keys from the service, one after the other.
///
/// Neither the TPM nor the owner is needed for this.
final class KeyList {
    /// The maximum number of keys, as in OpenSSH.
    static let most = 2048

    /// The result of processing what has arrived.
    enum Progress {
        case reading
        case keys([Key])
        case failed
    }

    private let link: Link
    private var names: [Bytes]?
    private var keys: [Key] = []

    /// Begins to read; `nil` if the service is not running.
    init?(service: Bytes, watch: Int32, number: UInt64) {
        guard let link = Link(path: service, watch: watch, number: number) else { return nil }
        self.link = link
        guard link.send(Bytes(#"{"method":"io.whorl.Items.List","parameters":{}}"#)) else {
            link.end()
            return nil
        }
    }

    func end() { link.end() }

    func proceed() -> Progress {
        while true {
            switch link.receive() {
            case .nothing: return .reading
            case .end, .nonsense: return .failed
            case .message(let reply):
                // A key that was deleted or tampered with does not hide the others.
                let isSkipped = reply.has("error") && names?.popLast() != nil
                guard isSkipped || !reply.has("error") else { return .failed }
                if !isSkipped {
                    guard let value = reply["parameters"]?["value"], take(value) else { return .failed }
                }
                guard let names, let next = names.last else { return .keys(keys) }
                guard link.send(Self.publicKey(of: next)) else { return .failed }
            }
        }
    }

    /// Processes the list, or a public key; `false` if it is neither.
    private func take(_ value: JSONValue) -> Bool {
        guard var names else {
            guard let items = value.list else { return false }
            var found: [Bytes] = []
            for item in items
            where item["id"]?["kind"]?.text?.isText("sshKey") == true && found.count < Self.most {
                guard let name = item["id"]?["name"]?.text else { return false }
                found.append(name)
            }
            self.names = found
            return true
        }
        guard let name = names.popLast(), let point = value.bytes, let key = Key(name: name, point: point)
        else {
            return false
        }
        keys.append(key)
        self.names = names
        return true
    }

    private static func publicKey(of name: Bytes) -> Bytes {
        var call = Bytes(#"{"method":"io.whorl.Items.PublicKey","parameters":{"value":"#)
        call.append(contentsOf: item(name))
        call.append("}}")
        return call
    }

    /// The name of an item, as JSON; the service uses the caller's own profile.
    static func item(_ name: Bytes) -> Bytes {
        var json = Bytes(#"{"profile":"owner","kind":"sshKey","name":"#)
        json.append(text: name)
        json.append("}")
        return json
    }
}
