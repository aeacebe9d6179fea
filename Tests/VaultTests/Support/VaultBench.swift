// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSecretMemory
import SoftwareTPM
import WhorlStateStore
import Synchronization
import WhorlTPM
import Testing

@testable import WhorlVault
import WhorlService

/// A chip of a test's own, a state directory of its own, and vaults on them as a program would open them.
final class VaultBench: Sendable {
    let tpm: SoftwareTPM
    let directory: StateDirectory
    private let path: String
    private let clock = Mutex(Moment(bootID: "one", sinceBoot: 1_000_000, wall: 1_700_000_000_000))

    init() throws {
        tpm = try SoftwareTPM()
        path = FileManager.default.temporaryDirectory.path + "/whorl-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        directory = StateDirectory(path: path + "/state")
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A vault as a new process opens it.
    func vault(through address: String? = nil) throws -> Vault {
        try vault(TPMDevice(TPMAddress(address ?? tpm.address)))
    }

    func vault(_ device: TPMDevice) throws -> Vault {
        Vault(
            device: device,
            database: try StateDatabase(directory: directory),
            time: MachineTime { [self] in clock.withLock { $0 } }
        )
    }

    func wait(_ time: Duration) {
        clock.withLock { now in
            let milliseconds = time.components.seconds * 1000
            now = Moment(
                bootID: now.bootID,
                sinceBoot: now.sinceBoot + milliseconds,
                wall: now.wall + milliseconds
            )
        }
    }

    /// Sets the wall clock alone.
    func setClock(to wall: Int64) {
        clock.withLock { $0 = Moment(bootID: $0.bootID, sinceBoot: $0.sinceBoot, wall: wall) }
    }

    func file(_ name: String) -> String { directory.path + "/" + name }

    /// The whole state directory as it is, to be put back later.
    func copy() throws -> [String: Data] {
        var files: [String: Data] = [:]
        // SQLite makes the file -shm anew, and removes it at any moment after the last connection was let go.
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path)
        where !name.hasSuffix("-shm") {
            files[name] = try Data(contentsOf: URL(filePath: file(name)))
        }
        return files
    }

    func putBack(_ files: [String: Data]) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
            // A connection that is let go at this moment removes some itself.
            guard unlink(file(name)) == 0 || errno == ENOENT else {
                throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: file(name)])
            }
        }
        for (name, contents) in files {
            try contents.write(to: URL(filePath: file(name)))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file(name))
        }
    }
}

extension Vault {
    /// One finger is added to or removed from the profile, as the enrollment does it.
    func changeFingers(of profile: String = "ada", from stored: UInt64) async throws -> UInt64 {
        let next = try await generation(of: profile, stored: stored) + 1
        try await advance(profile, to: next)
        return next
    }

    /// Lets go of the chip, so that other programs reach it.
    func letGo() async { await device.close() }
}

func id(_ kind: ItemKind, _ name: String, of profile: String = "ada") throws -> ItemID {
    ItemID(kind, try ItemName(name), of: profile)
}

func finger(of profile: String = "ada") -> OwnerProof { .matchedFinger(of: profile) }

/// The code of the vault's error that `body` throws; `nil` when it throws none.
func code(_ body: () async throws -> some Any) async -> ServiceError.Code? { await failure(body)?.code }

/// The vault's error that `body` throws; `nil` when it throws none.
func failure(_ body: () async throws -> some Any) async -> ServiceError? {
    do {
        _ = try await body()
        return nil
    } catch let error as ServiceError {
        return error
    } catch {
        Issue.record("\(error)")
        return nil
    }
}

extension PasscodeDerivation {
    /// Derives in a queue of the test's own.
    func authorization(of passcode: SecretBox) async throws(ServiceError) -> SecretBox {
        try await DerivationQueue().inTurn(of: "/") { turn async throws(ServiceError) in
            try await authorization(of: passcode, in: turn)
        }
    }

    /// Derives in a queue of the test's own.
    func authorization(ofApplicationPassword password: SecretBox) async throws(ServiceError) -> SecretBox {
        try await DerivationQueue().inTurn(of: "/") { turn async throws(ServiceError) in
            try await authorization(ofApplicationPassword: password, in: turn)
        }
    }
}
