// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import LocalAuthentication
import LocalAuthenticationTesting
import Testing

/// Rights that are kept: their key, their secret, and what ends them.
@Suite struct PersistedRightTests {
    private let store = LARightStore.shared
    private let message = Data("message".utf8)
    private let signing = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
    private let ecies = SecKeyAlgorithm.eciesEncryptionCofactorX963SHA256AESGCM

    @Test(arguments: [LAAuthenticationRequirement.default, .biometry, .biometryCurrentSet])
    func `one touch opens key and secret, until the right is given back`(
        _ requirement: LAAuthenticationRequirement
    ) async throws {
        let device = TestDevice()
        try await device.run {
            _ = try await store.saveRight(
                LARight(requirement: requirement),
                identifier: "safe",
                secret: Data("secret".utf8)
            )
            let right = try await store.right(forIdentifier: "safe")
            #expect(right.state == .unknown && device.prompts.isEmpty)
            await expectNotAuthorized(right)
            device.next(.match, .match, .match)
            try await right.authorize(localizedReason: "open")
            for _ in 0..<2 {
                let signature = try await right.key.sign(message, algorithm: signing)
                try await right.key.publicKey.verify(message, signature: signature, algorithm: signing)
                #expect(try await right.secret.rawData == Data("secret".utf8))
            }
            #expect(device.prompts.count == 1)
            await right.deauthorize()
            await expectNotAuthorized(right)
            #expect(device.prompts.count == 1)
        }
    }

    @Test func `a failed prompt authorizes nothing, and one object's authorization is not another's`()
        async throws
    {
        let device = TestDevice()
        try await device.run {
            let saved = try await store.saveRight(LARight(), identifier: "safe", secret: message)
            device.next(.match)
            try await saved.authorize(localizedReason: "open")
            await expectNotAuthorized(try await store.right(forIdentifier: "safe"))
            device.next(.cancel)
            await #expect(throws: LAError.self) { try await saved.authorize(localizedReason: "again") }
            await expectNotAuthorized(saved)
        }
    }

    @Test func `where what was shown is no longer enough, nobody is asked anew`() async throws {
        let device = TestDevice()
        try await device.run {
            let right = try await store.saveRight(LARight(), identifier: "safe", secret: message)
            device.next(.match, .passcode(TestDevice.usualPasscode))
            try await right.authorize(localizedReason: "open")
            device.removeAllFingers()
            await expectNotAuthorized(right)
            #expect(device.prompts.count == 1)
            try await right.authorize(localizedReason: "open")
            #expect(try await right.secret.rawData == message)
            #expect(device.prompts.count == 2)
        }
    }

    @Test func `without fingers one for fingers answers as one that is not authorized, and is not saved`()
        async throws
    {
        let device = TestDevice()
        try await device.run {
            let requirement = LAAuthenticationRequirement.biometry
            let right = try await store.saveRight(
                LARight(requirement: requirement),
                identifier: "safe",
                secret: message
            )
            device.next(.match)
            try await right.authorize(localizedReason: "open")
            device.removeAllFingers()
            await expectNotAuthorized(right)
            #expect(device.prompts.count == 1)
            for requirement in [requirement, .biometryCurrentSet] {
                await expect(errSecNotAvailable) {
                    try await store.saveRight(LARight(requirement: requirement), identifier: "new")
                }
            }
            await expect(errSecItemNotFound) { try await store.right(forIdentifier: "new") }
        }
    }

    @Test func `removing one leaves another that has its name now`() async throws {
        let device = TestDevice()
        try await device.run {
            let first = try await store.saveRight(LARight(), identifier: "safe", secret: message)
            try await store.removeRight(forIdentifier: "safe")
            let second = try await store.saveRight(LARight(), identifier: "safe", secret: Data("new".utf8))
            try await store.removeRight(first)
            device.next(.match)
            try await second.authorize(localizedReason: "open")
            #expect(try await second.secret.rawData == Data("new".utf8))
        }
    }

    @Test func `the key decrypts and exchanges keys after one touch, and its public half asks nobody`()
        async throws
    {
        let device = TestDevice()
        try await device.run {
            let right = try await store.saveRight(LARight(requirement: .biometry), identifier: "key")
            let other = try await store.saveRight(LARight(requirement: .biometry), identifier: "other")
            let (key, publicKey) = (right.key, right.key.publicKey)
            let bytes = try await publicKey.bytes
            #expect(bytes.count == 65 && bytes.first == 4)
            #expect(try await other.key.publicKey.bytes != bytes)
            let encrypted = try await publicKey.encrypt(message, algorithm: ecies)
            await expectNotInteractive { try await key.decrypt(encrypted, algorithm: ecies) }
            #expect(device.prompts.isEmpty)
            device.next(.match, .match)
            try await right.authorize(localizedReason: "use")
            try await other.authorize(localizedReason: "use")
            #expect(try await key.decrypt(encrypted, algorithm: ecies) == message)
            let terms: [AnyHashable: Any] = [
                SecKeyKeyExchangeParameter.requestedSize.rawValue: 24,
                SecKeyKeyExchangeParameter.sharedInfo: Data("info".utf8),
            ]
            let derived = SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA256
            let mine = try await key.exchangeKeys(
                publicKey: other.key.publicKey.bytes,
                algorithm: derived,
                parameters: terms
            )
            let others = try await other.key.exchangeKeys(
                publicKey: bytes,
                algorithm: derived,
                parameters: terms
            )
            #expect(mine == others && mine.count == 24)
            let texts: [AnyHashable: Any] = ["requestedSize": 24, "sharedInfo": Data("info".utf8)]
            let bare: [AnyHashable: Any] = [SecKeyKeyExchangeParameter.requestedSize: 24]
            for (parameters, isSame) in [(texts, true), (bare, false)] {
                let given = try await other.key.exchangeKeys(
                    publicKey: bytes,
                    algorithm: derived,
                    parameters: parameters
                )
                #expect((given == mine) == isSame && given.count == 24)
            }
            await expect(errSecParam) {
                try await key.exchangeKeys(
                    publicKey: bytes,
                    algorithm: derived,
                    parameters: [SecKeyKeyExchangeParameter.requestedSize: "many"]
                )
            }
            #expect(device.prompts.count == 2)
        }
    }

    @Test func `each half says what it can do, and refuses the rest`() async throws {
        let device = TestDevice()
        try await device.run {
            let right = try await store.saveRight(LARight(requirement: .biometry), identifier: "key")
            let (key, publicKey) = (right.key, right.key.publicKey)
            #expect(key.canSign(using: signing) && !key.canSign(using: ecies))
            #expect(key.canDecrypt(using: ecies) && !key.canDecrypt(using: signing))
            #expect(
                key.canExchangeKeys(using: .ecdhKeyExchangeStandard) && !key.canExchangeKeys(using: ecies)
            )
            #expect(publicKey.canEncrypt(using: ecies) && !publicKey.canEncrypt(using: signing))
            #expect(publicKey.canVerify(using: signing) && !publicKey.canVerify(using: ecies))
            #expect(!key.canSign(using: .rsaSignatureMessagePKCS1v15SHA256))
            device.next(.match)
            try await right.authorize(localizedReason: "use")
            await expect(errSecParam) { try await key.sign(message, algorithm: ecies) }
            await expect(errSecDecode) {
                try await key.exchangeKeys(
                    publicKey: message,
                    algorithm: .ecdhKeyExchangeStandard,
                    parameters: [:]
                )
            }
            await expect(errSecVerifyFailed) {
                try await publicKey.verify(message, signature: message, algorithm: signing)
            }
        }
    }

    @Test func `a right for the present fingers ends when one is added, and makes room`() async throws {
        let device = TestDevice()
        try await device.run {
            let bound = LARight(requirement: .biometryCurrentSet)
            let right = try await store.saveRight(bound, identifier: "safe", secret: message)
            device.next(.match)
            try await right.authorize(localizedReason: "open")
            device.addFinger(.leftIndex)
            let asked = device.prompts.count
            // Authorized as it is, it opens nothing any more.
            await expect(errSecItemNotFound) { try await right.secret.rawData }
            await expect(errSecItemNotFound) { try await right.key.sign(message, algorithm: signing) }
            await expect(errSecItemNotFound) { try await right.checkCanAuthorize() }
            await expect(errSecItemNotFound) { try await right.authorize(localizedReason: "open") }
            #expect(right.state == .notAuthorized && device.prompts.count == asked)
            let error = await expect(errSecItemNotFound) { try await store.right(forIdentifier: "safe") }
            #expect(error?.localizedDescription.contains("\"safe\"") == true)
            // What is left of it goes, and a new right has nothing of the old one.
            try await store.removeRight(right)
            let new = try await store.saveRight(bound, identifier: "safe")
            device.next(.match)
            try await new.authorize(localizedReason: "open")
            _ = try await new.key.sign(message, algorithm: signing)
            await expect(errSecItemNotFound) { try await new.secret.rawData }
            await expect(errSecItemNotFound) { try await right.authorize(localizedReason: "old") }
        }
    }

    @Test func `a dead right is overwritten with its secret, and a living one is not`() async throws {
        let device = TestDevice()
        try await device.run {
            let bound = LARight(requirement: .biometryCurrentSet)
            _ = try await store.saveRight(bound, identifier: "safe", secret: Data("old".utf8))
            await expect(errSecDuplicateItem) { try await store.saveRight(LARight(), identifier: "safe") }
            device.addFinger(.leftIndex)
            let new = try await store.saveRight(bound, identifier: "safe", secret: Data("new".utf8))
            device.next(.match)
            try await new.authorize(localizedReason: "open")
            #expect(try await new.secret.rawData == Data("new".utf8))
        }
    }

    @Test func `a program that deletes its keys deletes its rights, and no later one has their secrets`()
        async throws
    {
        let device = TestDevice()
        try await device.run {
            _ = try await store.saveRight(LARight(), identifier: "safe", secret: message)
            #expect(SecItemDelete([kSecClass: kSecClassKey] as CFDictionary) == errSecSuccess)
            await expect(errSecItemNotFound) { try await store.right(forIdentifier: "safe") }
            let new = try await store.saveRight(LARight(), identifier: "safe")
            device.next(.match)
            try await new.authorize(localizedReason: "open")
            await expect(errSecItemNotFound) { try await new.secret.rawData }
        }
    }

    @Test func `what is not there has a status of its own, and a name must not be empty`() async throws {
        let device = TestDevice()
        try await device.run {
            await expect(errSecItemNotFound) { try await store.right(forIdentifier: "none") }
            await expect(errSecItemNotFound) { try await store.removeRight(forIdentifier: "none") }
            try await store.removeAllRights()
            await expect(errSecParam) { try await store.saveRight(LARight(), identifier: "") }
            await expect(errSecParam) { try await store.right(forIdentifier: "") }
            await expect(errSecParam) { try await store.removeRight(forIdentifier: "") }
            device.removePasscode()
            await expect(errSecNotAvailable) { try await store.saveRight(LARight(), identifier: "safe") }
        }
    }

    @Test func `a secret that does not fit leaves no right behind`() async throws {
        let device = TestDevice()
        try await device.run {
            let large = Data(count: 2 << 20)
            await expect(errSecParam) {
                try await store.saveRight(LARight(), identifier: "safe", secret: large)
            }
            await expect(errSecItemNotFound) { try await store.right(forIdentifier: "safe") }
            _ = try await store.saveRight(LARight(), identifier: "safe", secret: Data())
        }
    }

    @Test func `removing asks nobody, takes the authorization back, and leaves all else alone`() async throws
    {
        let device = TestDevice()
        try await device.run {
            let password: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "mine", kSecValueData: message,
            ]
            #expect(SecItemAdd(password as CFDictionary, nil) == errSecSuccess)
            let ownKey: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
                kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecAttrIsPermanent: true,
                kSecAttrApplicationTag: "mine",
            ]
            #expect(SecKeyCreateRandomKey(ownKey as CFDictionary, nil) != nil)
            var rights: [LAPersistedRight] = []
            for name in ["one", "two", "three"] {
                rights.append(try await store.saveRight(LARight(), identifier: name, secret: message))
            }
            device.next(.match)
            try await rights[0].authorize(localizedReason: "open")
            try await store.removeRight(rights[0])
            #expect(rights[0].state == .notAuthorized)
            try await store.removeRight(forIdentifier: "two")
            _ = try await store.right(forIdentifier: "three")
            try await store.removeAllRights()
            for name in ["one", "two", "three"] {
                await expect(errSecItemNotFound) { try await store.right(forIdentifier: name) }
            }
            #expect(count(kSecClassKey) == 1 && count(kSecClassGenericPassword) == 1)
            #expect(device.prompts.count == 1)
        }
    }

    @Test func `the forms with a completion do the same, on threads of their own`() async throws {
        let device = TestDevice()
        try await device.run {
            let saved = try #require(
                await replied { store.saveRight(LARight(), identifier: "a", completion: $0) }
            )
            _ = await replied { store.saveRight(LARight(), identifier: "b", secret: message, completion: $0) }
            let found = try #require(await replied { store.right(forIdentifier: "b", completion: $0) })
            device.next(.match)
            try await found.authorize(localizedReason: "use")
            let (key, publicKey) = (found.key, found.key.publicKey)
            #expect(await replied { found.secret.loadData(completion: $0) } == message)
            let signature = try #require(
                await replied { key.sign(message, algorithm: signing, completion: $0) }
            )
            let bytes = try #require(await replied { publicKey.exportBytes(completion: $0) })
            #expect(bytes.count == 65)
            let error = await withCheckedContinuation { done in
                publicKey.verify(message, signature: signature, algorithm: signing) {
                    done.resume(returning: $0 as NSError?)
                }
            }
            #expect(error == nil)
            let encrypted = try #require(
                await replied { publicKey.encrypt(message, algorithm: ecies, completion: $0) }
            )
            #expect(await replied { key.decrypt(encrypted, algorithm: ecies, completion: $0) } == message)
            let shared = await replied {
                key.exchangeKeys(
                    publicKey: bytes,
                    algorithm: .ecdhKeyExchangeStandard,
                    parameters: [:],
                    completion: $0
                )
            }
            #expect(shared?.count == 32)
            let removals: [@Sendable (@escaping @Sendable ((any Error)?) -> Void) -> Void] = [
                { store.removeRight(saved, completion: $0) },
                { store.removeRight(forIdentifier: "b", completion: $0) },
                { store.removeAllRights(completion: $0) },
            ]
            for removal in removals {
                let error = await withCheckedContinuation { done in
                    removal { done.resume(returning: $0 as NSError?) }
                }
                #expect(error == nil)
            }
            #expect(count(kSecClassKey) == 0 && count(kSecClassGenericPassword) == 0)
        }
    }

    @Test func `of 16 that save one name at once, one does`() async throws {
        let device = TestDevice()
        await device.run {
            let saved = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<16 {
                    group.addTask {
                        (try? await store.saveRight(LARight(), identifier: "one", secret: message)) != nil
                    }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(saved == 1)
            #expect(count(kSecClassKey) == 1 && count(kSecClassGenericPassword) == 1)
        }
    }

    // MARK: - Helpers

    private func expectNotAuthorized(_ right: LAPersistedRight) async {
        await expectNotInteractive { try await right.secret.rawData }
        await expectNotInteractive { try await right.key.sign(message, algorithm: signing) }
    }

    private func expectNotInteractive(
        _ body: () async throws -> some Any,
        at place: SourceLocation = #_sourceLocation
    ) async {
        let error = await failure(of: body)
        #expect((error as? LAError)?.code == .notInteractive, sourceLocation: place)
    }

    @discardableResult
    private func expect(
        _ status: OSStatus,
        at place: SourceLocation = #_sourceLocation,
        _ body: () async throws -> some Any
    ) async -> NSError? {
        let error = await failure(of: body) as NSError?
        #expect(error?.domain == NSOSStatusErrorDomain, sourceLocation: place)
        #expect(error?.code == Int(status), sourceLocation: place)
        return error
    }

    private func failure(of body: () async throws -> some Any) async -> (any Error)? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error
        }
    }

    private func replied<Value: Sendable>(
        _ body: (@escaping @Sendable (Value?, (any Error)?) -> Void) -> Void
    ) async -> Value? {
        await withCheckedContinuation { done in
            body { value, error in
                #expect((value == nil) == (error != nil))
                done.resume(returning: value)
            }
        }
    }

    /// How many items of a class the app has.
    private func count(_ itemClass: CFString) -> Int {
        let query: [CFString: Any] = [
            kSecClass: itemClass, kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
        ]
        var found: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess else { return 0 }
        return (found as? NSArray)?.count ?? 0
    }
}
