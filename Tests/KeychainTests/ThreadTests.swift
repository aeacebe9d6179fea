// SPDX-License-Identifier: Apache-2.0

import WhorlService
import WhorlContext
import Foundation
import KeychainServices
import LocalAuthentication
import Synchronization
import Testing

@Suite struct `Threads` {
    private let bench: KeychainBench

    init() throws { bench = try KeychainBench() }

    /// Runs `body` on threads of their own, and returns when all have ended.
    private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let done = DispatchGroup()
        for number in 0..<count {
            done.enter()
            let thread = Thread {
                body(number)
                done.leave()
            }
            thread.start()
        }
        done.wait()
    }

    @Test func `1,000 mixed calls from 16 threads all end as they would alone`() {
        let unexpected = Mutex<[String]>([])
        let parts = bench.parts()
        let context = bench.run { LAContext() }
        onThreads(16) { thread in
            ContextParts.$ofTask.withValue(parts) {
                func expect(_ allowed: [OSStatus], _ status: OSStatus, _ what: String) {
                    if !allowed.contains(status) { unexpected.withLock { $0.append("\(what): \(status)") } }
                }
                for turn in 0..<11 {
                    // An item of its own, and one that all fight for; every third one is guarded.
                    let own = "\(thread)-\(turn)"
                    var more: [CFString: Any] = [kSecValueData: Data(own.utf8)]
                    if turn % 3 == 0 { more[kSecAttrAccessControl] = control(.biometryAny) }
                    expect([errSecSuccess], SecItemAdd(generic(own, more), nil), "add")
                    let query: [CFString: Any] = [
                        kSecUseAuthenticationContext: context, kSecReturnData: true,
                    ]
                    let found = find(generic(own, query))
                    expect([errSecSuccess], found.status, "find")
                    if found.object as? Data != Data(own.utf8) { expect([], 1, "value") }
                    expect([errSecSuccess, errSecDuplicateItem], SecItemAdd(generic("shared"), nil), "add")
                    let change = [kSecAttrLabel: own] as CFDictionary
                    expect(
                        [errSecSuccess, errSecItemNotFound],
                        SecItemUpdate(generic("shared"), change),
                        "change"
                    )
                    expect([errSecSuccess, errSecItemNotFound], SecItemDelete(generic("shared")), "delete")
                    expect([errSecSuccess], SecItemDelete(generic(own)), "delete")
                }
            }
        }
        #expect(unexpected.withLock(\.self) == [])
        bench.run {
            let any = [kSecClass: kSecClassGenericPassword] as CFDictionary
            let left = SecItemDelete(any)
            #expect(left == errSecItemNotFound || left == errSecSuccess)
        }
    }

    @Test func `of changes from 64 threads at once to one item and to all items, none is lost`() {
        let parts = bench.parts()
        bench.run {
            for name in ["shared", "other"] { #expect(SecItemAdd(generic(name), nil) == errSecSuccess) }
        }
        let statuses = Mutex<[OSStatus]>([])
        onThreads(64) { thread in
            ContextParts.$ofTask.withValue(parts) {
                // Each thread adds an attribute of its own kind to what the others write.
                let all = [kSecClass: kSecClassGenericPassword, kSecAttrService: "mail"] as CFDictionary
                let label = [kSecAttrLabel: "\(thread)"] as CFDictionary
                let comment = [kSecAttrComment: "\(thread)"] as CFDictionary
                let query = thread % 2 == 0 ? generic("shared") : all
                let status = SecItemUpdate(query, thread % 2 == 0 ? label : comment)
                let guarded = [kSecAttrAccessControl: control(.biometryAny)] as CFDictionary
                let own = generic("own \(thread)", service: "news")
                let added = SecItemAdd(own, nil)
                let changed = SecItemUpdate(own, guarded)
                statuses.withLock { $0 += [status, added, changed] }
            }
        }
        #expect(statuses.withLock { Set($0) } == [errSecSuccess])
        bench.run {
            let query = generic("shared", [kSecReturnAttributes: true])
            let found = find(query).object as? [String: Any]
            // The last label and the last comment are both there: no change wrote an older state back.
            #expect(Int(found?[kSecAttrLabel as String] as? String ?? "")?.isMultiple(of: 2) == true)
            #expect(Int(found?[kSecAttrComment as String] as? String ?? "")?.isMultiple(of: 2) == false)
        }
    }

    @Test func `a call that waits for a person blocks its caller and nobody else`() async throws {
        let parts = bench.parts()
        let chip = bench.chip
        let context = bench.run { LAContext() }
        bench.run {
            let guarded: [CFString: Any] = [kSecAttrAccessControl: control(.biometryAny)]
            #expect(SecItemAdd(generic("guarded", guarded), nil) == errSecSuccess)
        }
        chip.person = .isAway
        let (ends, end) = AsyncStream<OSStatus>.makeStream()
        let waiting = Thread {
            let query: [CFString: Any] = [kSecUseAuthenticationContext: context, kSecReturnData: true]
            end.yield(ContextParts.$ofTask.withValue(parts) { find(generic("guarded", query)).status })
        }
        waiting.start()
        let deadline = ContinuousClock.now + .seconds(20)
        while chip.prompts.isEmpty, ContinuousClock.now < deadline { await Task.yield() }
        #expect(chip.prompts.count == 1)

        bench.run {
            #expect(SecItemAdd(generic("free", [kSecValueData: Data([1])]), nil) == errSecSuccess)
            #expect(value("free") == Data([1]))
            chip.person = .shows
            #expect(value("guarded") == Data(), "another context asks for itself")
            #expect(SecItemDelete(generic("free")) == errSecSuccess)
        }
        context.invalidate()
        var statuses = ends.makeAsyncIterator()
        #expect(await statuses.next() == errSecAuthFailed)
    }
}
