// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Glibc
import WhorlService
import WhorlSSH
import WhorlSupport

extension SSHCommand {
    /// The command `whorl ssh pin`.
    struct Pin: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "pin",
            abstract: "Limit a key to logins at certain hosts, or show its hosts (prompts first)",
            discussion: """
                The keys of the hosts are read from ~/.ssh/known_hosts, so connect to them first. The key then signs in only at a \
                host that proves one of them, and the prompt shows the host's name. It still signs commits and files. Examples:

                  whorl ssh pin laptop github.com example.org:2222
                  whorl ssh pin laptop --any
                """
        )
        @Argument(help: "Name of the key")
        var name: String
        @Argument(help: ArgumentHelp("Host, with :PORT if it is not 22", valueName: "host"))
        var hosts: [String] = []
        @Flag(help: "Allow any host again")
        var any = false
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            guard !any || hosts.isEmpty else { throw ValidationError("--any cannot be used with a host.") }
        }

        func answer(_ session: Session) async throws -> Answer {
            let id = try session.item(.sshKey, name)
            if any || !hosts.isEmpty {
                let pins = try Self.pins(hosts)
                try await session.ask(handing: try await passcode.preset()) { PinSSHKey(id, to: pins, $0) }
            }
            let pins = try await session.services.ask(ReadSSHKeyRules(of: id)).value.pins
            return Answer(
                result: ["name": .string(id.name.text), "hosts": .array(pins.map(\.json))],
                text: pins.isEmpty ? ["Any host."] : pins.map { "\($0.name)  \($0.fingerprint)" }
            )
        }

        /// Returns a pin for each key of each host in the user's known hosts.
        private static func pins(_ hosts: [String]) throws(Failure) -> [SSHPin] {
            let home = getenv("HOME").map { String(cString: $0) } ?? ""
            let files = [home + "/.ssh/known_hosts", "/etc/ssh/ssh_known_hosts"]
            let known = SSHKnownHosts(files.compactMap(Files.text).joined(separator: "\n").utf8)
            var pins: [SSHPin] = []
            for host in hosts {
                guard let name = hostName(host) else {
                    throw .usage(
                        "“\(host)” is not the name of a host.",
                        hint: "Use a name or an address, as in github.com:22."
                    )
                }
                let keys = known.lines.filter {
                    $0.marker == nil && $0.matches(name) && !known.isRevoked($0.key)
                }.map(\.key)
                guard keys.isEmpty || keys.contains(where: { $0.check([], over: []) != .cannotVerify }) else {
                    throw Failure(
                        code: "unknownHost",
                        message:
                            "The known keys of \(host) are of types that cannot be verified, such as RSA.",
                        recovery:
                            "Add another one: `ssh-keyscan -t ed25519 \(host)`, and check its fingerprint."
                    )
                }
                guard !keys.isEmpty else {
                    throw Failure(
                        code: "unknownHost",
                        message: "~/.ssh/known_hosts has no key of \(host).",
                        recovery: "Connect to it first, and check its fingerprint: `ssh \(host)`."
                    )
                }
                for key in keys
                where key.check([], over: []) != .cannotVerify
                    && !pins.contains(where: { $0.key.elementsEqual(key.blob) })
                {
                    pins.append(SSHPin(name: host, key: Data(key.blob)))
                }
            }
            return pins
        }

        private static func hostName(_ host: String) -> SSHHostName? {
            guard let colon = host.lastIndex(of: ":"), !host[..<colon].contains(":"),
                let port = UInt16(host[host.index(after: colon)...])
            else { return SSHHostName(host) }
            return SSHHostName(String(host[..<colon]), port: port)
        }
    }
}

extension SSHPin {
    fileprivate var fingerprint: String { SSHPublicKey(blob: key)?.fingerprint ?? "" }
    fileprivate var json: JSONValue { ["name": .string(name), "fingerprint": .string(fingerprint)] }
}
