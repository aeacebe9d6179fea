// SPDX-License-Identifier: Apache-2.0

internal import CAgent

/// The names that this computer's files and the client's arguments suggest for a host.
///
/// The service finds the name in them, also in lines with hashed names, and shows it as the agent's claim.
struct HostClaims {
    /// The maximum number of bytes of a file, and of the lines that are passed on.
    private static let most = (file: 1 << 20, lines: 8192)
    /// The maximum number of candidates.
    private static let mostCandidates = 64

    /// The lines about the host's key in files of known hosts.
    private(set) var lines: Bytes = []
    /// The words that may be the name of the host, each as ssh(1) or ssh_config(5) writes it.
    private(set) var candidates: [Bytes] = []

    /// Finds what is said about a host with this key, for a client with this process ID.
    init(hostKey: Bytes, pid: Int32) {
        var key: Bytes = []
        key.append(base64: hostKey)
        // Without quotes.
        key = Bytes(key.dropFirst().dropLast())
        guard let home = unsafe Bytes(copying: agent_home()), !key.isEmpty else { return }
        for file in [home + Bytes("/.ssh/known_hosts"), Bytes("/etc/ssh/ssh_known_hosts")] {
            for line in Self.read(file, Self.most.file).split(separator: UInt8(ascii: "\n")) {
                guard line.contains(key), lines.count + line.count < Self.most.lines else { continue }
                lines.append(contentsOf: line)
                lines.append(UInt8(ascii: "\n"))
            }
        }
        // A plain line needs no candidate.
        guard lines.contains(UInt8(ascii: "|")) else { return }
        var arguments = Bytes("/proc/")
        arguments.append(decimal: UInt64(max(0, pid)))
        arguments.append("/cmdline")
        for word in Self.read(arguments, 65_536).split(separator: 0).dropFirst() {
            // A port, as -p2222.
            add(word.count > 2 && word.starts(with: Bytes("-p")) ? word.dropFirst(2) : word)
        }
        for line in Self.read(home + Bytes("/.ssh/config"), Self.most.file).split(
            separator: UInt8(ascii: "\n")
        ) {
            let words = line.split {
                $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "=")
            }
            guard let first = words.first, first.isText("host") || first.isText("hostname") else { continue }
            for word in words.dropFirst() { add(word) }
        }
    }

    private mutating func add(_ word: ArraySlice<UInt8>) {
        guard candidates.count < Self.mostCandidates, (1...300).contains(word.count),
            word.first != UInt8(ascii: "-"),
            !word.contains(UInt8(ascii: "*"))
        else { return }
        let word = Bytes(word)
        // JSON of the service takes no other bytes.
        guard word.isUTF8, !candidates.contains(word) else { return }
        candidates.append(word)
    }

    private static func read(_ path: Bytes, _ most: Int) -> Bytes {
        var bytes = Bytes(repeating: 0, count: most)
        let count = unsafe bytes.withUnsafeMutableBufferPointer {
            unsafe agent_read_file(path.terminated, $0.baseAddress, $0.count)
        }
        bytes.removeSubrange(min(Int(count), most)...)
        return bytes
    }
}

extension ArraySlice<UInt8> {
    /// Returns whether these bytes contain others.
    fileprivate func contains(_ other: Bytes) -> Bool {
        guard count >= other.count else { return false }
        for start in startIndex...(endIndex - other.count) where self[start] == other[0] {
            if self[start..<start + other.count].elementsEqual(other) { return true }
        }
        return false
    }

    /// Returns whether these bytes equal a text in lower case, in which only letters are compared without their case.
    fileprivate func isText(_ text: StaticString) -> Bool {
        Bytes(map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }).isText(text)
    }
}
