// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import Foundation
import KeychainServices
import LocalAuthentication
import WhorlSecretMemory
import Testing
import WhorlVault

@testable import WhorlContext
import WhorlService

/// Items that somebody must be recognized for.
@Suite struct `Protected items` {
    private let bench: KeychainBench
    private var chip: FakeChip { bench.chip }

    init() throws { bench = try KeychainBench() }

    private func add(_ name: String, _ flags: SecAccessControlCreateFlags) -> OSStatus {
        SecItemAdd(
            generic(name, [kSecAttrAccessControl: control(flags), kSecValueData: Data(name.utf8)]),
            nil
        )
    }

    private func read(_ name: String, _ more: [CFString: Any] = [:]) -> OSStatus {
        find(generic(name, more.merging([kSecReturnData: true]) { $1 })).status
    }

    @Test func `adding, deleting and looking at attributes ask nobody; reading asks`() {
        bench.run {
            #expect(add("a", .userPresence) == errSecSuccess)
            #expect(find(generic("a", [kSecReturnAttributes: true])).status == errSecSuccess)
            #expect(chip.prompts.isEmpty)
            #expect(value("a", [kSecUseOperationPrompt: "read it"]) == Data("a".utf8))
            #expect(chip.prompts == ["read it"])
            #expect(SecItemDelete(generic("a")) == errSecSuccess)
            #expect(chip.prompts.count == 1)
        }
    }

    @Test func `one context is asked once; another one is asked again`() {
        bench.run {
            #expect(add("a", .biometryAny) == errSecSuccess)
            #expect(add("b", .biometryAny) == errSecSuccess)
            let context = LAContext()
            context.localizedReason = "the context's reason"
            for name in ["a", "b", "a"] {
                #expect(read(name, [kSecUseAuthenticationContext: context]) == errSecSuccess)
            }
            #expect(chip.prompts == ["the context's reason"])
            #expect(read("a") == errSecSuccess)
            #expect(chip.prompts.count == 2)
        }
    }

    @Test func `several values in one query are one prompt`() {
        bench.run {
            for name in ["a", "b", "c"] { #expect(add(name, .biometryAny) == errSecSuccess) }
            let query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true,
            ]
            #expect((find(query as CFDictionary).object as? [Data])?.count == 3)
            #expect(chip.prompts.count == 1)
        }
    }

    @Test(arguments: [
        (ServiceError.Code.userCancel, errSecUserCanceled),
        (.notInteractive, errSecInteractionNotAllowed),
        (.authenticationFailed, errSecAuthFailed), (.biometryLockout, errSecAuthFailed),
        (.userFallback, errSecAuthFailed), (.systemCancel, errSecAuthFailed), (.appCancel, errSecAuthFailed),
        (.passcodeNotSet, errSecNotAvailable), (.biometryNotEnrolled, errSecAuthFailed),
        (.biometryNotAvailable, errSecAuthFailed), (.biometryDisconnected, errSecAuthFailed),
    ])
    func `why the owner was not recognized`(_ code: ServiceError.Code, _ status: OSStatus) {
        bench.run {
            #expect(add("a", .biometryAny) == errSecSuccess)
            chip.person = .fails(code)
            #expect(read("a") == status)
        }
    }

    @Test(arguments: [
        (ServiceError.Code.noChip, errSecNotAvailable), (.chipCleared, errSecNotAvailable),
        (.chipBusy, errSecIO),
        (.itemTampered, errSecInvalidRecord), (.accessDenied, errSecAuthFailed),
        (.passcodeNotSet, errSecNotAvailable), (.enrollmentChanged, errSecItemNotFound),
        (.secretTooLarge, errSecParam),
    ])
    func `why the chip refused`(_ code: ServiceError.Code, _ status: OSStatus) {
        bench.run {
            chip.failure = code
            #expect(add("a", .biometryCurrentSet) == status)
        }
    }

    @Test func `where nobody may be asked, it fails, or leaves the item out`() {
        bench.run {
            #expect(add("guarded", .biometryAny) == errSecSuccess)
            #expect(SecItemAdd(generic("plain", [kSecValueData: Data("p".utf8)]), nil) == errSecSuccess)
            #expect(
                read("guarded", [kSecUseAuthenticationUI: kSecUseAuthenticationUIFail])
                    == errSecInteractionNotAllowed
            )
            #expect(read("guarded", [kSecUseNoAuthenticationUI: true]) == errSecInteractionNotAllowed)
            #expect(
                read("guarded", [kSecUseAuthenticationUI: kSecUseAuthenticationUISkip]) == errSecItemNotFound
            )
            let context = LAContext()
            context.interactionNotAllowed = true
            #expect(read("guarded", [kSecUseAuthenticationContext: context]) == errSecInteractionNotAllowed)
            let all: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true,
                kSecUseAuthenticationUI: kSecUseAuthenticationUISkip,
            ]
            #expect(find(all as CFDictionary).object as? [Data] == [Data("p".utf8)])
            #expect(chip.prompts.isEmpty)
        }
    }

    @Test func `a context that was asked before needs no prompt`() {
        bench.run {
            #expect(add("a", .biometryAny) == errSecSuccess)
            let context = LAContext()
            #expect(read("a", [kSecUseAuthenticationContext: context]) == errSecSuccess)
            context.interactionNotAllowed = true
            #expect(read("a", [kSecUseAuthenticationContext: context]) == errSecSuccess)
        }
    }

    @Test func `a context that has ended is errSecAuthFailed for every call`() {
        bench.run {
            let context = LAContext()
            context.invalidate()
            let with = [kSecUseAuthenticationContext: context] as [CFString: Any]
            #expect(SecItemAdd(generic("a", with), nil) == errSecAuthFailed)
            #expect(SecItemAdd(generic("a"), nil) == errSecSuccess)
            #expect(SecItemCopyMatching(generic("a", with), nil) == errSecAuthFailed)
            #expect(SecItemUpdate(generic("a", with), ["labl": "x"] as CFDictionary) == errSecAuthFailed)
            #expect(SecItemDelete(generic("a", with)) == errSecAuthFailed)
        }
    }

    @Test func `after a finger was added, no query finds an item of the old set, and its row stays`() {
        bench.run {
            for name in ["read", "looked at", "added again", "changed"] {
                #expect(add(name, .biometryCurrentSet) == errSecSuccess)
            }
            #expect(add("any", .biometryAny) == errSecSuccess)
            chip.addFinger()
            #expect(read("read") == errSecItemNotFound)
            #expect(find(generic("looked at", [kSecReturnAttributes: true])).status == errSecItemNotFound)
            #expect(SecItemUpdate(generic("changed"), ["labl": "x"] as CFDictionary) == errSecItemNotFound)
            #expect(chip.prompts.isEmpty)
            #expect(add("added again", .biometryCurrentSet) == errSecSuccess)
            #expect(read("added again") == errSecSuccess)
            #expect(read("any") == errSecSuccess)
            // Their owner alone deletes them.
            for name in ["read", "looked at", "changed"] {
                #expect(SecItemDelete(generic(name)) == errSecSuccess, "\(name)")
            }
        }
    }

    @Test func `one dead item does not hide the living ones`() {
        bench.run {
            #expect(add("old", .biometryCurrentSet) == errSecSuccess)
            chip.addFinger()
            #expect(add("new", .biometryCurrentSet) == errSecSuccess)
            let query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecReturnData: true]
            #expect(find(query as CFDictionary).object as? Data == Data("new".utf8))
        }
    }

    @Test func `many dead items are left out, and none of them is deleted`() {
        bench.run {
            for index in 0..<20 { #expect(add("old \(index)", .biometryCurrentSet) == errSecSuccess) }
            chip.addFinger()
            #expect(add("new", .biometryCurrentSet) == errSecSuccess)
            var query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecReturnData: true]
            #expect(find(query as CFDictionary).object as? Data == Data("new".utf8))
            query[kSecMatchLimit] = kSecMatchLimitAll
            #expect(find(query as CFDictionary).object as? [Data] == [Data("new".utf8)])
            let label = [kSecAttrLabel: "l"] as CFDictionary
            #expect(
                SecItemUpdate([kSecClass: kSecClassGenericPassword] as CFDictionary, label) == errSecSuccess
            )
            for index in 0..<20 { #expect(SecItemDelete(generic("old \(index)")) == errSecSuccess) }
        }
    }

    // Docs/Security.md: D4
    @Test func `an item whose chip cannot be asked is found, keeps its name and is not deleted`() {
        bench.run {
            #expect(add("a", .biometryCurrentSet) == errSecSuccess)
            chip.addFinger()
            chip.isMute = true
            #expect(find(generic("a", [kSecReturnAttributes: true])).status == errSecSuccess)
            #expect(read("a") == errSecIO)
            #expect(add("a", .biometryCurrentSet) == errSecDuplicateItem)
            #expect(add("b", .biometryAny) == errSecSuccess)
            #expect(
                SecItemUpdate(generic("b"), [kSecAttrAccount: "a"] as CFDictionary) == errSecDuplicateItem
            )
            chip.isMute = false
            #expect(read("a") == errSecItemNotFound)
            #expect(add("a", .biometryCurrentSet) == errSecSuccess)
            #expect(read("a") == errSecSuccess)
        }
    }

    @Test func `changing asks as reading does`() {
        bench.run {
            #expect(add("a", .biometryAny) == errSecSuccess)
            let change = [kSecValueData: Data("b".utf8)] as CFDictionary
            chip.person = .fails(.userCancel)
            #expect(SecItemUpdate(generic("a"), change) == errSecUserCanceled)
            chip.person = .shows
            #expect(value("a") == Data("a".utf8))
            #expect(SecItemUpdate(generic("a"), change) == errSecSuccess)
            #expect(value("a") == Data("b".utf8))
            #expect(SecItemUpdate(generic("a"), [kSecAttrLabel: "l"] as CFDictionary) == errSecSuccess)
            #expect(value("a", [kSecAttrLabel: "l"]) == Data("b".utf8))
        }
    }

    @Test func `an update that is refused after another program was faster has changed nothing`() {
        bench.run {
            #expect(add("guarded", .biometryAny) == errSecSuccess)
            #expect(SecItemAdd(generic("plain"), nil) == errSecSuccess)
            let parts = bench.parts()
            // What comes in between opens with a password that the update has not.
            chip.duringPrompt = {
                await withCheckedContinuation { done in
                    let thread = Thread {
                        ContextParts.$ofTask.withValue(parts) {
                            let context = LAContext()
                            context.setCredential(Data("right".utf8), type: .applicationPassword)
                            let item: [CFString: Any] = [
                                kSecAttrAccessControl: control(.applicationPassword),
                                kSecUseAuthenticationContext: context,
                            ]
                            #expect(SecItemAdd(generic("between", item), nil) == errSecSuccess)
                        }
                        done.resume()
                    }
                    thread.start()
                }
            }
            let all = [kSecClass: kSecClassGenericPassword, kSecAttrService: "mail"] as CFDictionary
            #expect(SecItemUpdate(all, [kSecAttrLabel: "new"] as CFDictionary) == errSecAuthFailed)
            #expect(chip.prompts.count == 1)
            for name in ["guarded", "plain", "between"] {
                #expect(SecItemCopyMatching(generic(name), nil) == errSecSuccess)
                let changed = generic(name, [kSecAttrLabel: "new"])
                #expect(SecItemCopyMatching(changed, nil) == errSecItemNotFound, "\(name)")
            }
        }
    }

    @Test func `an item may take the name of one that can never be opened again`() {
        bench.run {
            #expect(add("dead", .biometryCurrentSet) == errSecSuccess)
            #expect(SecItemAdd(generic("a", [kSecValueData: Data("v".utf8)]), nil) == errSecSuccess)
            let rename = [kSecAttrAccount: "dead"] as CFDictionary
            #expect(SecItemUpdate(generic("a"), rename) == errSecDuplicateItem)
            chip.addFinger()
            #expect(SecItemUpdate(generic("a"), rename) == errSecSuccess)
            #expect(value("dead") == Data("v".utf8))
        }
    }

    @Test func `protection can be put on an item, and taken off by whoever opens it`() {
        bench.run {
            #expect(SecItemAdd(generic("a", [kSecValueData: Data("v".utf8)]), nil) == errSecSuccess)
            let guarded = [kSecAttrAccessControl: control(.biometryAny)] as CFDictionary
            #expect(SecItemUpdate(generic("a"), guarded) == errSecSuccess)
            #expect(read("a", [kSecUseNoAuthenticationUI: true]) == errSecInteractionNotAllowed)
            let free = [kSecAttrAccessControl: control([])] as CFDictionary
            #expect(SecItemUpdate(generic("a"), free) == errSecSuccess)
            #expect(read("a", [kSecUseNoAuthenticationUI: true]) == errSecSuccess)
            #expect(value("a") == Data("v".utf8))
        }
    }

    @Test func `an application password comes from the context`() {
        func context(_ password: String?) -> LAContext {
            let context = LAContext()
            context.setCredential(password.map { Data($0.utf8) }, type: .applicationPassword)
            return context
        }
        bench.run {
            let item: [CFString: Any] = [
                kSecAttrAccessControl: control(.applicationPassword), kSecValueData: Data("v".utf8),
            ]
            func with(_ password: String?) -> [CFString: Any] {
                [kSecUseAuthenticationContext: context(password)]
            }
            #expect(SecItemAdd(generic("a", item), nil) == errSecAuthFailed)
            #expect(SecItemAdd(generic("a", item.merging(with("right")) { $1 }), nil) == errSecSuccess)
            #expect(read("a") == errSecAuthFailed)
            #expect(read("a", with("wrong")) == errSecAuthFailed)
            #expect(read("a", with("right")) == errSecSuccess)
            #expect(chip.prompts.isEmpty)
        }
    }

    @Test func `a passcode that is not set guards nothing`() {
        bench.run {
            chip.hasPasscode = false
            #expect(add("a", .devicePasscode) == errSecNotAvailable)
            #expect(add("a", .userPresence) == errSecNotAvailable)
            #expect(add("a", .companion) == errSecNotAvailable)
            #expect(read("a") == errSecItemNotFound)
        }
    }

    @Test func `an item that lives with the passcode cannot be added without one, and goes with it`() throws {
        try bench.run {
            let bound = generic("a", [kSecAttrAccessible: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly])
            #expect(SecItemAdd(bound, nil) == errSecNotAvailable)
            #expect(SecItemAdd(generic("free"), nil) == errSecSuccess)
            let lasting =
                [kSecAttrAccessible: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly] as CFDictionary
            #expect(SecItemUpdate(generic("free"), lasting) == errSecNotAvailable)
            try bench.setPasscode()
            #expect(SecItemAdd(bound, nil) == errSecSuccess)
            #expect(SecItemCopyMatching(generic("a"), nil) == errSecSuccess)
        }
    }

    @Test func `values that the chip keeps may be empty, and end below 1 MiB`() {
        bench.run {
            let guarded: [CFString: Any] = [kSecAttrAccessControl: control(.biometryAny)]
            #expect(SecItemAdd(generic("empty", guarded), nil) == errSecSuccess)
            #expect(value("empty") == Data())
            let large = guarded.merging([kSecValueData: Data(count: 1 << 20)]) { $1 }
            #expect(SecItemAdd(generic("large", large), nil) == errSecParam)
        }
    }
}
