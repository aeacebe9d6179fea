// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What went over the bus, as the TCTI `pcap:` of tpm2-tss writes it into the file that `TCTI_PCAP_FILE` names.
///
/// The variable belongs to the process: one test at a time, or a process for each. Every size is checked against the file.
public struct TrafficRecording: Sendable {
    /// The commands, in their order.
    public let commands: [[UInt8]]
    /// The answers, in their order.
    public let answers: [[UInt8]]

    private static let largestFile = 64 << 20
    private static let packetBlock: UInt32 = 6
    private static let portOfTPM: UInt16 = 2321

    /// Reads a pcapng file, little-endian, whose packets are IPv4 and TCP with one message each.
    ///
    /// - Throws: ``SoftwareTPMError/badRecording``.
    public init(contentsOf file: URL) throws {
        let data = [UInt8](try Data(contentsOf: file))
        guard data.count <= Self.largestFile else { throw SoftwareTPMError.badRecording }
        var (commands, answers): ([[UInt8]], [[UInt8]]) = ([], [])
        var rest = data[...]
        while !rest.isEmpty {
            guard let kind = Self.number(rest, at: 0), let size = Self.number(rest, at: 4).map(Int.init),
                size >= 12, size <= rest.count
            else { throw SoftwareTPMError.badRecording }
            if kind == Self.packetBlock, let length = Self.number(rest, at: 20).map(Int.init) {
                guard length <= size - 32 else { throw SoftwareTPMError.badRecording }
                let packet = [UInt8](rest.dropFirst(28).prefix(length))
                // 20 bytes of IPv4, 20 bytes of TCP, whose third and fourth are the port it goes to.
                guard packet.count > 40 else { throw SoftwareTPMError.badRecording }
                let port = UInt16(packet[22]) << 8 | UInt16(packet[23])
                if port == Self.portOfTPM {
                    commands.append(Array(packet[40...]))
                } else {
                    answers.append(Array(packet[40...]))
                }
            }
            rest = rest.dropFirst(size)
        }
        self.commands = commands
        self.answers = answers
    }

    private static func number(_ bytes: ArraySlice<UInt8>, at offset: Int) -> UInt32? {
        guard bytes.count >= offset + 4 else { return nil }
        let start = bytes.startIndex + offset
        return bytes[start..<start + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The commands' names, in their order.
    public var names: [String] { commands.map(TPMCommandName.of) }

    /// Whether these bytes are anywhere in a command or an answer.
    public func holds(_ bytes: [UInt8]) -> Bool {
        let needle = Data(bytes)
        return (commands + answers).contains { Data($0).range(of: needle) != nil }
    }
}

/// Names of commands, for tests that count them.
public enum TPMCommandName {
    /// The name of a command's code; the number in hexadecimal where it has none here.
    public static func of(_ code: UInt32) -> String { names[code] ?? "0x" + String(code, radix: 16) }

    /// The name of a marshalled command.
    public static func of(_ command: [UInt8]) -> String {
        command.count >= 10 ? of(command[6..<10].reduce(0) { $0 << 8 | UInt32($1) }) : "cut off"
    }

    private static let names: [UInt32: String] = [
        0x11f: "NV_UndefineSpaceSpecial", 0x120: "EvictControl", 0x122: "NV_UndefineSpace", 0x126: "Clear",
        0x129: "HierarchyChangeAuth", 0x12a: "NV_DefineSpace", 0x131: "CreatePrimary", 0x134: "NV_Increment",
        0x137: "NV_Write", 0x139: "DictionaryAttackLockReset", 0x144: "Startup", 0x149: "PolicyNV",
        0x14e: "NV_Read", 0x150: "ObjectChangeAuth", 0x151: "PolicySecret", 0x153: "Create", 0x155: "HMAC",
        0x154: "ECDH_ZGen", 0x157: "Load", 0x15d: "Sign", 0x15e: "Unseal", 0x165: "FlushContext",
        0x169: "NV_ReadPublic",
        0x16b: "PolicyAuthValue", 0x171: "PolicyOR", 0x173: "ReadPublic", 0x176: "StartAuthSession",
        0x17a: "GetCapability", 0x17b: "GetRandom", 0x17e: "PCR_Read", 0x17f: "PolicyPCR",
        0x182: "PCR_Extend", 0x189: "PolicyGetDigest",
    ]
}
