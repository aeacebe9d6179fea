// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LoginServer

struct `the keys that sign tokens` {
    private let day = 86_400

    @Test func `the first key signs at once`() {
        let keys = TokenKeySet(at: 1_000)
        #expect(keys.signing(at: 1_000) == keys.keys.first)
    }

    @Test func `a new key is known for ten minutes before it signs`() {
        var keys = TokenKeySet(at: 1_000)
        let first = keys.keys[0]
        keys.rotate(at: 2_000)
        #expect(keys.keys.count == 2)
        #expect(keys.signing(at: 2_000 + 599) == first)
        #expect(keys.signing(at: 2_000 + 600) == keys.keys[1])
    }

    @Test func `a second rotation while a key waits adds none`() {
        var keys = TokenKeySet(at: 1_000)
        keys.rotate(at: 2_000)
        let before = keys
        keys.rotate(at: 2_001)
        #expect(keys == before)
    }

    @Test func `after thirty days there is a new key, and not a day before`() {
        var keys = TokenKeySet(at: 0)
        keys.maintain(at: 30 * day - 1)
        #expect(keys.keys.count == 1)
        keys.maintain(at: 30 * day)
        #expect(keys.keys.count == 2)
        #expect(keys.signing(at: 30 * day) == keys.keys[0], "it does not sign yet")
    }

    @Test func `an old key stays until the last token that it signed is over`() {
        var keys = TokenKeySet(at: 0)
        let old = keys.keys[0].id
        keys.rotate(at: 1_000)
        let lastToken = 1_000 + TokenKeySet.lead - 1 + TokenKeySet.longestTokenLifetime
        keys.maintain(at: lastToken)
        #expect(keys.key(old) != nil)
        keys.maintain(at: lastToken + 2)
        #expect(keys.key(old) == nil)
        #expect(keys.keys.count == 1)
    }

    @Test func `a clock that was set back still finds a key to sign with`() {
        let keys = TokenKeySet(at: 1_000)
        #expect(keys.signing(at: 10) == keys.keys[0])
    }
}
