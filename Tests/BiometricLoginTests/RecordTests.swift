// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import WhorlLogin

@Suite struct `The record of a login` {
    private func key(_ number: Int) -> LoginRecord.Key {
        LoginRecord.Key(item: Data([UInt8(number)]), fingers: Data([1]), name: "d", enabledAt: nil)
    }

    private func read(_ text: String) throws -> LoginRecord {
        try JSONDecoder().decode(LoginRecord.self, from: Data(text.utf8))
    }

    @Test func `one with a single key under way is read`() throws {
        let key = #"{"item":"AQ==","fingers":"AQ==","name":"d"}"#
        let record = try read(#"{"device":"x","pending":\#(key)}"#)
        #expect(record == LoginRecord(device: "x").trying(self.key(1)))
        #expect(try read(#"{"device":"x","key":\#(key)}"#).keys == [self.key(1)])
        #expect(throws: DecodingError.self) { try read(#"{"device":"x","pending":7}"#) }
    }

    @Test func `what is written is read`() throws {
        let record = LoginRecord(device: "x").trying(key(1)).trying(key(2)).refusing(key(1), .unknownToServer)
        #expect(record.keys == [2, 1].map(key))
        let data = try JSONEncoder().encode(record)
        #expect(try JSONDecoder().decode(LoginRecord.self, from: data) == record)
    }

    @Test func `the newest keys under way are kept, so many and no more`() {
        let record = (1...6).reduce(LoginRecord(device: "x")) { $0.trying(key($1)) }
        #expect(record.keys == [6, 5, 4, 3].map(key))
    }

    @Test func `a key that the server has ends the older ones, not what was sent since`() {
        let record = (1...3).reduce(LoginRecord(device: "x")) { $0.trying(key($1)) }
        #expect(record.knowing(key(2))?.keys == [3, 2].map(key))
        #expect(record.knowing(key(3))?.keys == [key(3)])
        #expect(record.knowing(key(3))?.knowing(key(2)) == nil)
    }

    @Test func `refused keys stay behind the others, the newest of them, until the server has one`() {
        let tried = (1...4).reduce(LoginRecord(device: "x")) { $0.trying(key($1)) }
        let refused = (1...3).reduce(tried) { $0.refusing(key($1), .unknownToServer) }
        #expect(refused.keys == [4, 3, 2, 1].map(key) && refused.isLive)
        #expect(refused.knowing(key(4))?.keys == [key(4)])
        #expect(refused.refusing(key(4), .serverWantsItAgain).knowing(key(2))?.keys == [key(2)])
        #expect(!refused.refusing(key(4), .serverWantsItAgain).isLive)
        #expect(refused.refusing(key(9), .unknownToServer) == refused)
        #expect(refused.forgetting(key(2)).keys == [4, 3, 1].map(key))
    }
}
