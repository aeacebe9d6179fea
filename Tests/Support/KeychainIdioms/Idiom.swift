// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

/// A way in which programs for Apple's systems call the keychain, written as such a program, and what it expects.
///
/// Each leaves nothing behind, and none needs a chip or a person, so that they run wherever a keychain is.
public struct Idiom: Sendable {
    /// The calls of the keychain.
    public enum Call: String, Sendable, CaseIterable {
        case add, find, update, delete, create
    }

    /// The call that it is about.
    public let call: Call
    /// The description of the idiom.
    public let name: String
    private let body: @Sendable (Place) throws -> Void

    init(_ call: Call, _ name: String, _ body: @escaping @Sendable (Place) throws -> Void) {
        self.call = call
        self.name = name
        self.body = body
    }

    /// All of them.
    public static let all = adding + finding + updating + deleting + creating

    /// Runs it in the keychain of this program.
    ///
    /// - Returns: The deviation from what was expected; `nil` if there was none.
    public func failure() -> String? {
        let place = Place()
        defer { place.clear() }
        do {
            try body(place)
            return nil
        } catch let wrong as Wrong {
            return "line \(wrong.line): \(wrong.text)"
        } catch {
            return "\(error)"
        }
    }
}

/// A deviation from what an idiom expects, and its place.
struct Wrong: Error {
    let text: String
    let line: Int
}

/// A service and a tag of one run's own, so that runs do not meet, and its expectations.
struct Place: Sendable {
    let service = "idiom \(UUID().uuidString)"
    var tag: Data { Data(service.utf8) }

    func clear() {
        for itemClass in [kSecClassGenericPassword, kSecClassInternetPassword, kSecClassKey] {
            let own = itemClass == kSecClassGenericPassword ? kSecAttrService : kSecAttrServer
            let query: [CFString: Any] = [
                kSecClass: itemClass, kSecAttrSynchronizable: kSecAttrSynchronizableAny,
                itemClass == kSecClassKey ? kSecAttrApplicationTag : own: itemClass == kSecClassKey
                    ? tag : service,
            ]
            SecItemDelete(query as CFDictionary)
        }
    }

    func expect(_ holds: Bool, _ text: String = "not as expected", line: Int = #line) throws {
        guard holds else { throw Wrong(text: text, line: line) }
    }

    func expect(_ status: OSStatus, is wanted: OSStatus = errSecSuccess, line: Int = #line) throws {
        try expect(status == wanted, "\(status), not \(wanted)", line: line)
    }

    func unwrap<Value>(_ value: Value?, line: Int = #line) throws -> Value {
        guard let value else { throw Wrong(text: "nil", line: line) }
        return value
    }

    /// The dictionary of a password of this run.
    func item(_ account: String, _ more: [String: Any] = [:]) -> [String: Any] {
        let item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecAttrAccount as String: account,
        ]
        return item.merging(more) { $1 }
    }

    func add(_ account: String, _ value: String, line: Int = #line) throws {
        let whole = item(account, [kSecValueData as String: Data(value.utf8)])
        try expect(SecItemAdd(whole as CFDictionary, nil), line: line)
    }

    /// Returns the value of a password; `nil` if none is stored.
    func value(_ account: String) -> String? {
        var found: AnyObject?
        let query = item(account, [kSecReturnData as String: true])
        guard SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess, let data = found as? Data
        else {
            return nil
        }
        return String(data: data, encoding: .utf8)
    }

    /// The parameters of a key of this run.
    func key(_ type: CFString = kSecAttrKeyTypeECSECPrimeRandom, _ bits: Int = 256, lasting: Bool = false)
        -> [String: Any]
    {
        [
            kSecAttrKeyType as String: type, kSecAttrKeySizeInBits as String: bits,
            kSecPrivateKeyAttrs as String: [
                kSecAttrIsPermanent as String: lasting, kSecAttrApplicationTag as String: tag,
            ],
        ]
    }

    func make(_ parameters: [String: Any], line: Int = #line) throws -> SecKey {
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateRandomKey(parameters as CFDictionary, &error) else {
            throw Wrong(text: "\(String(describing: error?.takeRetainedValue()))", line: line)
        }
        return key
    }
}
