// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import HummingbirdCore
import LoginAssertion
import NIOCore
import RelyingParty
import Testing

@testable import LoginServer

struct `what comes in a request` {
    @Test func `members are taken by name`() throws {
        var members = try RequestMembers(json: #"{"user":"anna","key":"AAEC","note":"x"}"#.utf8)
        #expect(try members.name("user").text == "anna")
        #expect(try members.bytes("key") == Data([0, 1, 2]))
        #expect(members.optional("note") == "x")
        #expect(members.optional("other") == nil)
        try members.end()
    }

    @Test func `quotation marks in a text are a part of it`() throws {
        var members = try RequestMembers(json: #"{"a":"\"\\","b\"":"\u0022"}"#.utf8)
        #expect(members.optional("a") == "\"\\")
        #expect(members.optional("b\"") == "\"")
        try members.end()
    }

    @Test func `a member that nobody asks for is refused`() throws {
        var members = try RequestMembers(json: #"{"user":"anna","passwrod":"x"}"#.utf8)
        _ = try members.name("user")
        _ = members.optional("password")
        #expect(throws: Problem.self) { try members.end() }
    }

    @Test(
        arguments: [
            "", " ", "null", "[]", "1", #""text""#, "{", #"{"a":1}"#, #"{"a":null}"#, #"{"a":{}}"#,
            #"{"a":["x"]}"#, #"{"a":"x","a":"x"}"#, #"{"a":"x","b":"\"","\u0061":"y"}"#,
            #"{"a":"x"} {"#, #"{"a":"x",,}"#, #"{a:"x"}"#, #"{"a":1e400}"#, #"{"a":"\#u{0}"}"#,
            #"{"a":"\ud800"}"#,
            String(repeating: "[", count: 16_000), String(repeating: #"{"a":"#, count: 3_000),
            #"{"a":\#(String(repeating: "9", count: 10_000))}"#,
        ]
    )
    func `what is not one object of texts is malformed`(text: String) {
        #expect { try RequestMembers(json: text.utf8) } throws: { ($0 as? Problem)?.code == .malformed }
    }

    @Test(arguments: [
        [0xFF], [0x7B, 0x22, 0xC0, 0xAF, 0x22, 0x3A, 0x22, 0x22, 0x7D], [0xFE, 0xFF, 0, 0x7B, 0, 0x7D],
    ])
    func `what is not UTF-8 is malformed`(bytes: [UInt8]) {
        #expect { try RequestMembers(json: bytes) } throws: { ($0 as? Problem)?.code == .malformed }
    }

    @Test func `UTF-16 is no UTF-8, though its bytes may be`() {
        for encoding in [String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian] {
            let bytes = Array(#"{"a":"x"}"#.data(using: encoding) ?? Data())
            #expect(String(validating: bytes, as: UTF8.self) != nil, "or the test says nothing")
            #expect { try RequestMembers(json: bytes) } throws: { ($0 as? Problem)?.code == .malformed }
        }
    }

    @Test(arguments: ["", " anna", "anna ", "a\u{202E}b", String(repeating: "x", count: 129)])
    func `what is no name is malformed`(name: String) throws {
        let json = try JSONEncoder().encode(["user": name])
        var members = try RequestMembers(json: json)
        #expect { try members.name("user") } throws: { ($0 as? Problem)?.code == .malformed }
    }

    @Test func `a problem is JSON with its code, and 401 names a scheme`() throws {
        let json = try #require(
            try JSONSerialization.jsonObject(with: Problem(.unknownKey, "Gone.").json) as? [String: Any]
        )
        #expect(Set(json.keys) == ["type", "title", "status", "detail", "code"])
        #expect(json["code"] as? String == "unknown_key")
        #expect(json["status"] as? Int == 401)
        #expect(Problem(.unknownKey, "Gone.").response.headers[.wwwAuthenticate] == "Bearer")
    }
}

struct `where a request comes from` {
    private func client(peer: String, forwarded: [String], trusting: [String]) throws -> String {
        let policy = ProxyPolicy(trusted: trusting.compactMap(AddressRange.init))
        var headers = HTTPFields()
        let name = try #require(HTTPField.Name("X-Forwarded-For"))
        for field in forwarded { headers.append(HTTPField(name: name, value: field)) }
        return policy.client(peer: try SocketAddress(ipAddress: peer, port: 1), headers: headers).text
    }

    @Test func `nobody but a trusted proxy is believed`() throws {
        #expect(try client(peer: "192.0.2.1", forwarded: ["198.51.100.7"], trusting: []) == "192.0.2.1")
        #expect(
            try client(peer: "192.0.2.1", forwarded: ["198.51.100.7"], trusting: ["192.0.2.2"]) == "192.0.2.1"
        )
        #expect(
            try client(peer: "192.0.2.2", forwarded: ["198.51.100.7"], trusting: ["192.0.2.2"])
                == "198.51.100.7"
        )
    }

    @Test func `of a trusted proxy the last address counts, since the client wrote the others`() throws {
        let trusting = ["127.0.0.1"]
        #expect(
            try client(peer: "127.0.0.1", forwarded: ["1.1.1.1, 2.2.2.2"], trusting: trusting) == "2.2.2.2"
        )
        #expect(
            try client(peer: "127.0.0.1", forwarded: ["1.1.1.1", "2.2.2.2"], trusting: trusting) == "2.2.2.2"
        )
    }

    @Test(arguments: [
        ("1.1.1.1, 10.0.0.7, 10.255.1.2", "1.1.1.1"), ("9.9.9.9, 1.1.1.1, 10.0.0.7", "1.1.1.1"),
        ("10.0.0.7", "10.0.0.7"), ("1.1.1.1, nonsense, 10.0.0.7", "10.0.0.7"),
        ("1.1.1.1, 11.0.0.7", "11.0.0.7"),
        ("2001:db8::1, 2001:db8:5::9", "2001:db8::1"),
    ])
    func `of several proxies behind each other, who came to the first one counts`(
        fields: String,
        client: String
    ) throws {
        let trusting = ["10.0.0.0/8", "2001:db8:5::/48", "127.0.0.1"]
        #expect(try self.client(peer: "127.0.0.1", forwarded: [fields], trusting: trusting) == client)
    }

    @Test(arguments: [
        ("192.0.2.7:4711", "192.0.2.7"), ("[2001:db8::7]:443", "2001:db8::7"),
        ("[2001:db8::7]", "2001:db8::7"),
        ("192.0.2.7:", "192.0.2.7"),
    ])
    func `a port behind an address is left out`(element: String, address: String) throws {
        #expect(try client(peer: "127.0.0.1", forwarded: [element], trusting: ["127.0.0.1"]) == address)
    }

    @Test func `a proxy by a Unix socket is believed`() throws {
        let policy = ProxyPolicy(trusted: [])
        let peer = try SocketAddress(unixDomainSocketPath: "/run/x")
        let name = try #require(HTTPField.Name("X-Forwarded-For"))
        #expect(policy.admitsPlain(peer))
        #expect(policy.client(peer: peer, headers: [name: "192.0.2.7"]).text == "192.0.2.7")
        #expect(!policy.admitsPlain(nil))
    }

    @Test func `a proxy of this machine that is not trusted is noticed`() throws {
        let name = try #require(HTTPField.Name("X-Forwarded-For"))
        let loopback = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
        #expect(ProxyPolicy(trusted: []).overlooks(peer: loopback, headers: [name: "192.0.2.7"]))
        #expect(!ProxyPolicy(trusted: []).overlooks(peer: loopback, headers: [:]))
        let trusting = ProxyPolicy(trusted: [try #require(AddressRange("127.0.0.0/8"))])
        #expect(!trusting.overlooks(peer: loopback, headers: [name: "192.0.2.7"]))
    }

    @Test(arguments: ["", "unknown", "1.1.1.1.1:80", "secret token", ",", "fe80::1%eth0"])
    func `what is no address leaves the proxy's`(text: String) throws {
        #expect(try client(peer: "127.0.0.1", forwarded: [text], trusting: ["127.0.0.1"]) == "127.0.0.1")
    }
}
