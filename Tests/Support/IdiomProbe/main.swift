// SPDX-License-Identifier: Apache-2.0

import KeychainIdioms
import LocalAuthentication

// A program for Apple's systems, in whatever keychain it finds itself. Its first argument says what it does:
//
//     idioms          runs all idioms, and tells which were not as expected
//     keep NAME       stores two passwords and the bytes of a key, and prints their persistent references
//     guard NAME      stores two passwords that a touch opens
//     read NAME       prints the password of that name
//     find REFERENCE… prints what each reference names now
//     reuse SECONDS   evaluates without a prompt, with a touch of so many seconds ago at most; prints true or the error

func finish(_ text: String) -> Never {
    FileHandle.standardError.write(Data((text + "\n").utf8))
    exit(1)
}

func kept(_ item: [CFString: Any]) -> String {
    var reference: CFTypeRef?
    let asking = item.merging([kSecReturnPersistentRef: true]) { $1 }
    let status = SecItemAdd(asking as CFDictionary, &reference)
    guard status == errSecSuccess, let data = reference as? Data else { finish("SecItemAdd: \(status)") }
    return data.base64EncodedString()
}

func named(_ reference: String) -> String {
    let query: [CFString: Any] = [
        kSecValuePersistentRef: Data(base64Encoded: reference) ?? Data(), kSecReturnData: true,
    ]
    var found: CFTypeRef?
    let status = SecItemCopyMatching(query as CFDictionary, &found)
    guard status == errSecSuccess, let data = found as? Data else { return "\(status)" }
    return String(data: data, encoding: .utf8) ?? "other bytes"
}

let words = Array(CommandLine.arguments.dropFirst(2))
switch CommandLine.arguments.dropFirst().first {
case "idioms":
    var wrong = 0
    for idiom in Idiom.all {
        guard let failure = idiom.failure() else { continue }
        print("\(idiom.call): \(idiom.name): \(failure)")
        wrong += 1
    }
    print("\(Idiom.all.count - wrong) of \(Idiom.all.count)")
    exit(wrong == 0 ? 0 : 1)
case "keep" where words.count == 1:
    let value = Data("kept by \(words[0])".utf8)
    print(kept([kSecClass: kSecClassGenericPassword, kSecAttrService: words[0], kSecValueData: value]))
    print(kept([kSecClass: kSecClassInternetPassword, kSecAttrServer: words[0], kSecValueData: value]))
    print(kept([kSecClass: kSecClassKey, kSecAttrApplicationTag: words[0], kSecValueData: value]))
case "guard" where words.count == 1:
    let access = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .biometryAny, nil)
    for number in 1...2 {
        _ = kept([
            kSecClass: kSecClassGenericPassword, kSecAttrService: "\(words[0])-\(number)",
            kSecValueData: Data("guarded \(number) by \(words[0])".utf8),
            kSecAttrAccessControl: access as Any,
        ])
    }
case "read" where words.count == 1:
    let query: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrService: words[0], kSecReturnData: true,
    ]
    var found: CFTypeRef?
    let status = SecItemCopyMatching(query as CFDictionary, &found)
    guard status == errSecSuccess, let data = found as? Data else { finish("\(status)") }
    print(String(data: data, encoding: .utf8) ?? "other bytes")
case "find":
    for reference in words { print(named(reference)) }
case "reuse" where words.count == 1:
    let context = LAContext()
    context.touchIDAuthenticationAllowableReuseDuration = TimeInterval(words[0]) ?? 0
    context.interactionNotAllowed = true
    do {
        print(
            try await context.evaluatePolicy(
                .deviceOwnerAuthenticationWithBiometrics,
                localizedReason: "a test"
            )
        )
    } catch { print((error as NSError).code) }
default:
    finish("usage: IdiomProbe idioms | keep NAME | guard NAME | read NAME | find REFERENCE… | reuse SECONDS")
}
