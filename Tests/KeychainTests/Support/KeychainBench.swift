// SPDX-License-Identifier: Apache-2.0

import FacesOverSocket
import WhorlEngine
import WhorlContext
import Foundation
import WhorlSQLite
import KeychainServices
import WhorlStateStore
import LocalAuthentication
import WhorlService

/// A keychain of a test's own.
final class KeychainBench: Sendable {
    let path: String
    let chip = FakeChip()
    let access: StateAccess

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/whorl-keychain-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        access = StateAccess(directory: StateDirectory(path: path + "/state"))
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func parts(_ application: String = "org.example.app", groups: [String] = []) -> ContextParts {
        ContextParts(
            asker: chip.handlers,
            presenter: NoPrompt(),
            application: ApplicationID(rawValue: application),
            keychain: rows(of: [application] + groups)
        ).asTested
    }

    /// The rows of a program with these access groups.
    func rows(of groups: [String]) -> KeychainRows {
        KeychainRows(of: "ada", in: groups) { [access] creating async throws(ServiceError) in
            creating ? try await access.created() : try await access.existing()
        }
    }

    /// Runs `body` as a program whose keychain this is.
    func run<Value>(
        as application: String = "org.example.app",
        groups: [String] = [],
        _ body: () throws -> Value
    ) rethrows -> Value {
        try ContextParts.$ofTask.withValue(parts(application, groups: groups)) { try body() }
    }

    /// The database behind it.
    func database() throws -> StateDatabase {
        try StateDatabase(directory: StateDirectory(path: path + "/state"))
    }

    func execute(_ sql: String) throws {
        _ = try database().transactionBlocking { db -> Result<Void, Never> in
            try db.execute(script: sql)
            return .success(())
        }
    }

    /// A row that says that a passcode is set; what is in it does not matter to the keychain.
    func setPasscode() throws {
        try execute("INSERT INTO vault_passcodes VALUES ('ada', x'00', x'00', 0, x'00')")
    }
}

/// A query for a generic password.
func generic(_ account: String, service: String = "mail", _ more: [CFString: Any] = [:]) -> CFDictionary {
    var query: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
    ]
    query.merge(more) { _, new in new }
    return query as CFDictionary
}

/// What a query gives: the status, and the object.
func find(_ query: CFDictionary) -> (status: OSStatus, object: AnyObject?) {
    var object: CFTypeRef?
    let status = SecItemCopyMatching(query, &object)
    return (status, object)
}

/// The value of a generic password; `nil` where the status is not success.
func value(_ account: String, _ more: [CFString: Any] = [:]) -> Data? {
    find(generic(account, more.merging([kSecReturnData: true]) { _, new in new })).object as? Data
}

func control(
    _ flags: SecAccessControlCreateFlags,
    _ protection: CFString = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
) -> SecAccessControl {
    guard let control = SecAccessControlCreateWithFlags(nil, protection, flags, nil) else {
        preconditionFailure("the flags are right")
    }
    return control
}
