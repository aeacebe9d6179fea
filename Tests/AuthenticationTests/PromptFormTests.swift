// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlFingerprint
import Foundation
import Testing
import WhorlService

private let forms: [(PromptUpdate, String)] = [
    (.scan(.touch), #"{"event":"touch"}"#),
    (.scan(.finger(present: true)), #"{"event":"finger","present":true}"#),
    (.scan(.retry(.tooShort)), #"{"event":"retry","reason":"tooShort"}"#),
    (.scan(.stage(completed: 2, total: 5)), #"{"completed":2,"event":"stage","total":5}"#),
    (.noMatch(remaining: 2), #"{"event":"noMatch","remaining":2}"#),
    (.fingerEnded("Locked."), #"{"event":"fingerEnded","message":"Locked."}"#),
    (.checking, #"{"event":"checking"}"#),
    (.wrongPasscode(triesLeft: 4), #"{"event":"wrongPasscode","triesLeft":4}"#),
    (.wrongPasscode(triesLeft: nil), #"{"event":"wrongPasscode"}"#),
    (.throttled(for: .milliseconds(1500)), #"{"event":"throttled","milliseconds":1500}"#),
    (.passcodeEnded("None came."), #"{"event":"passcodeEnded","message":"None came."}"#),
    (.matched(.leftThumb), #"{"event":"matched","finger":"left-thumb"}"#),
    (.verified, #"{"event":"verified"}"#),
    (.ended("Nothing came."), #"{"event":"ended","message":"Nothing came."}"#),
]

@Suite struct `A prompt that crosses a socket` {
    @Test(arguments: forms)
    func `has one form for each update, which reads back`(_ update: PromptUpdate, _ form: String) throws {
        #expect(try text(of: update) == form)
        #expect(try read(PromptUpdate.self, form) == update)
    }

    @Test func `has one form for its content, which reads back`() throws {
        let prompt = Prompt(
            title: "vault-app",
            reason: "unlock",
            purpose: .yes,
            cancelTitle: "Cancel",
            fallbackTitle: nil,
            readerKind: .virtual,
            scanType: .swipe,
            parts: [.finger, .passcode]
        )
        let form =
            #"{"cancelTitle":"Cancel","parts":["finger","passcode"],"purpose":{"kind":"yes"},"readerKind":"virtual","reason":"unlock","#
            + #""scanType":"swipe","title":"vault-app"}"#
        #expect(try text(of: prompt) == form)
        #expect(try read(Prompt.self, form) == prompt)
        let later = form.replacing(#""passcode"]"#, with: #""iris"],"more":[1]"#)
        #expect(try read(Prompt.self, later).parts == .finger)
    }

    @Test func `has one name for each button, reason and kind of reader`() throws {
        #expect(try text(of: [PromptAction.cancel, .fallback]) == #"["cancel","fallback"]"#)
        #expect(try read([PromptAction].self, #"["cancel","fallback"]"#) == [.cancel, .fallback])
        #expect(
            try text(of: ScanRetry.allCases)
                == #"["general","tooShort","centerFinger","removeFinger","tooFast"]"#
        )
        #expect(
            try text(of: [ReaderInfo.Kind.hardware, .virtual, .mock]) == #"["hardware","virtual","mock"]"#
        )
        #expect(try text(of: [ReaderInfo.ScanType.press, .swipe]) == #"["press","swipe"]"#)
    }

    @Test(arguments: [
        #"{"event":"later"}"#, #"{"event":1}"#, #"{}"#, #"[]"#, #"{"event":"retry","reason":"later"}"#,
        #"{"event":"matched","finger":"left-toe"}"#, #"{"event":"matched"}"#, #"{"event":"noMatch"}"#,
        #"{"event":"throttled","milliseconds":1e300}"#, #"{"event":"ended"}"#,
    ])
    func `has no update of a form that this version does not know`(_ form: String) {
        #expect(throws: DecodingError.self) { try read(PromptUpdate.self, form) }
    }

    @Test func `has no members that stop an older version, and no wait that is too long to write`() throws {
        #expect(try read(PromptUpdate.self, #"{"event":"touch","since":[1]}"#) == .scan(.touch))
        let longest = try text(of: PromptUpdate.throttled(for: .seconds(Int64.max)))
        #expect(longest == #"{"event":"throttled","milliseconds":9223372036854775807}"#)
        #expect(try read(PromptUpdate.self, longest) == .throttled(for: .milliseconds(Int64.max)))
        let shortest = try text(of: PromptUpdate.throttled(for: .nanoseconds(1)))
        #expect(shortest == #"{"event":"throttled","milliseconds":1}"#)
    }

    private func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func read<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
