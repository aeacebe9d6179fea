// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import NIOCore
import RelyingParty
import Testing

@testable import LoginServer

struct `addresses that count together` {
    struct Pair: Sendable {
        let one: String
        let other: String
        let isTogether: Bool
    }

    static let pairs = [
        Pair(one: "192.0.2.1", other: "192.0.2.1", isTogether: true),
        Pair(one: "192.0.2.1", other: "::ffff:192.0.2.1", isTogether: true),
        Pair(one: "::FFFF:c000:0201", other: "192.0.2.1", isTogether: true),
        Pair(one: "192.0.2.1", other: "192.0.2.2", isTogether: false),
        Pair(one: "::192.0.2.1", other: "192.0.2.1", isTogether: false),
        Pair(one: "2001:db8:1:2::1", other: "2001:db8:1:2:ffff:1:2:3", isTogether: true),
        Pair(one: "2001:db8:1:2::1", other: "2001:DB8:1:2::1", isTogether: true),
        Pair(one: "2001:db8:1:2::1", other: "2001:db8:1:3::1", isTogether: false),
        Pair(one: "2001:db8::1", other: "2001:db8:0:0:8::", isTogether: true),
        Pair(one: "::1", other: "127.0.0.1", isTogether: false),
        Pair(one: "unknown", other: "192.0.2.1", isTogether: false),
    ]

    /// Whether a try from the other counts as one more of the first, of which there were as many as may be.
    private func isRefused(_ work: () async throws -> Void) async throws -> Bool {
        do {
            try await work()
            return false
        } catch let error as RelyingPartyError {
            guard case .tooManyTries = error.code else { throw error }
            return true
        }
    }

    // Docs/Security.md: L33
    @Test(arguments: pairs)
    func `are the same for every count`(pair: Pair) async throws {
        let server = try await TestServer()
        let (party, gate) = (server.service.relyingParty, server.service.passwords)
        let limit = RelyingParty.Configuration.Limit(count: 1, seconds: 60)
        try await party.countTry("test", from: pair.one, limit: limit)
        let counted = try await isRefused {
            try await party.countTry("test", from: pair.other, limit: limit)
        }
        #expect(counted == pair.isTogether)
        let anna = try #require(LoginName("anna"))
        for _ in 0..<10 { _ = try await gate.check("wrong", of: anna, from: ClientAddress(pair.one)) }
        let asked = try await isRefused {
            _ = try await gate.check("wrong", of: anna, from: ClientAddress(pair.other))
        }
        #expect(asked == pair.isTogether)
        #expect((ClientAddress(pair.one).network == ClientAddress(pair.other).network) == pair.isTogether)
    }

    @Test(arguments: [
        ("::ffff:192.0.2.1", "192.0.2.1"), ("2001:DB8:0:0::1", "2001:db8::1"), ("192.0.2.1", "192.0.2.1"),
        ("a b\u{7F}\n", "a?b??"), ("fe80::1%eth0", "fe80::1%eth0"),
    ])
    func `are shown in one form`(address: String, text: String) {
        #expect(ClientAddress(address).text == text)
    }

    @Test func `are those of sockets too`() throws {
        let socket = try SocketAddress(ipAddress: "::ffff:127.0.0.1", port: 1)
        #expect(ClientAddress(socket) == ClientAddress("127.0.0.1"))
        #expect(ClientAddress("127.0.0.1").isLoopback)
        #expect(ClientAddress(try SocketAddress(unixDomainSocketPath: "/x")) == nil)
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
        ("10.1.2.3/8", "10.9.9.9", true),
        ("192.0.2.128/25", "192.0.2.127", false), ("192.0.2.128/25", "192.0.2.255", true),
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.0", false),
        ("192.0.2.1/32", "192.0.2.1", true),
        ("10.0.0.0/8", "::ffff:10.0.0.1", true), ("2001:db8::/33", "2001:db8:7fff::1", true),
        ("2001:db8::/33", "2001:db8:8000::1", false), ("2001:db8::/32", "10.0.0.1", false),
        ("10.0.0.0/8", "unknown", false),
    ])
    func `are in a network, or not`(network: String, address: String, isIn: Bool) throws {
        #expect(try #require(AddressRange(network)).contains(ClientAddress(address)) == isIn)
    }

    @Test(arguments: [
        "", "10.0.0.0/", "10.0.0.0/0", "::/0", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8",
        "10/8",
        "10.0.0.0/ 8", "proxy/8", "2001:db8::/129",
    ])
    func `are no network where they are none, nor all there are`(text: String) {
        #expect(AddressRange(text) == nil)
    }

    @Test(arguments: [
        "", " 192.0.2.1", "192.0.2.1 ", "192.0.2", "192.0.2.01", "1", "::1%lo", "[::1]", "proxy",
    ])
    func `are no proxies where they are none`(text: String) {
        #expect(ClientAddress(ip: text) == nil)
        #expect(ClientAddress(ip: "192.0.2.1\u{0}\(text)") == nil)
    }
}
