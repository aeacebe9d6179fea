// SPDX-License-Identifier: Apache-2.0

import Crypto
import FoundationEssentials
import Glibc
import WhorlSecretMemory
import WhorlStateStore
import WhorlService
import WhorlTPM

/// The objects that turn a match into a proof that the TPM accepts.
///
/// These are the storage root of all objects, the authority's object, and the authorization value of that object. They
/// are stored in the file `vault.authority`. A program that can read that file can act in place of the matcher, but
/// only on this machine.
struct VaultAuthority: Sendable {
    let root: StorageRoot
    let object: TPMObject
    /// The object's authorization value (32 random bytes).
    let authorization: SecretBox

    /// The policy for incrementing a profile's generation.
    var writePolicy: TPMPolicy { .secret(of: object.name) }

    /// The credentials that satisfy ``writePolicy``.
    var credentials: Credentials {
        var credentials = Credentials()
        credentials.add(object, auth: authorization)
        return credentials
    }

    /// The credentials that satisfy PolicyAuthValue for an object that has the same authorization value as the
    /// authority.
    var ownValue: Credentials {
        var credentials = Credentials()
        credentials.authValue = authorization
        return credentials
    }

    static func path(_ directory: StateDirectory) -> String { directory.file("vault.authority") }

    /// Creates the object in the TPM, which does not store it.
    static func make(_ commands: borrowing TPMCommands, under root: StorageRoot) throws(TPMError)
        -> VaultAuthority
    {
        let authorization = SecretBox(SecretBytes.randomAuthorization())
        let object = try commands.createAuthority(under: root, auth: authorization, dictionaryAttack: false)
        return VaultAuthority(root: root, object: object, authorization: authorization)
    }

    /// Loads the authority of a state directory, or returns `nil` if none has been created.
    ///
    /// - Throws: A storage error if the file is damaged or accessible to other users.
    static func load(_ directory: StateDirectory) throws(ServiceError) -> VaultAuthority? {
        let path = path(directory)
        guard let contents = try PrivateFiles.read(path, atMost: VaultFile.largest) else { return nil }
        guard let authority = VaultAuthority(VaultFile(contents, as: .authority)) else {
            throw ServiceError(.storeKeyDamaged, path)
        }
        return authority
    }

    /// Writes the file unless another process has already done so.
    ///
    /// - Returns: The authority that the directory has afterward.
    func publish(_ directory: StateDirectory) throws(ServiceError) -> VaultAuthority {
        let path = VaultAuthority.path(directory)
        let contents = VaultFile(parts: [root.serialized, object.serialized], secret: authorization)
        if try PrivateFiles.publish(contents.encoded(as: .authority), as: path, in: directory.path) {
            return self
        }
        guard let first = try VaultAuthority.load(directory) else {
            throw ServiceError(.storeKeyMissing, path)
        }
        return first
    }
}

extension VaultAuthority {
    private init?(_ file: VaultFile?) {
        guard let file, file.parts.count == 2, let authorization = file.secret,
            let root = try? StorageRoot(serialized: file.parts[0]),
            let object = try? TPMObject(serialized: file.parts[1])
        else { return nil }
        self.init(root: root, object: object, authorization: authorization)
    }
}

/// Creates the storage root and the authority of the vault.
///
/// 1. The storage root is found in the TPM or is created and stored there.
/// 2. The authority is created under the storage root, but the TPM does not store it.
/// 3. The file `vault.authority` is given its name. From this point on, the vault is provisioned.
///
/// A run that ends before the third step leaves at most a storage root behind, which the next run finds. If two
/// processes provision the vault at the same time, both get the authority of the first.
struct Provisioning: Sendable {
    let device: TPMDevice
    let directory: StateDirectory

    /// Returns the authority of the directory, creating it if there is none.
    ///
    /// The directory must exist.
    func authority() async throws(ServiceError) -> VaultAuthority {
        if let authority = try VaultAuthority.load(directory) { return authority }
        let made = try await device.run { commands throws(TPMError) in
            try VaultAuthority.make(commands, under: try commands.findOrMakeStorageRoot())
        }
        return try made.publish(directory)
    }
}

/// The identity of the file that currently has a given name, so that a program can detect when another file has
/// replaced it.
///
/// The inode number alone is not sufficient, because it can be reused as soon as the old file is deleted.
struct FileIdentity: Sendable, Hashable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    /// The time when the inode last changed, in seconds and nanoseconds.
    private let changed: [Int]

    /// Reads the identity of the file with this name without following a link, or returns `nil` if there is no file.
    ///
    /// - Throws: `notWritable`, `failed`.
    init?(at path: String) throws(ServiceError) {
        var found = stat()
        guard lstat(path, &found) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw ServiceError(errno: errno, path: path)
        }
        device = UInt64(found.st_dev)
        inode = UInt64(found.st_ino)
        size = Int64(found.st_size)
        changed = [Int(found.st_ctim.tv_sec), Int(found.st_ctim.tv_nsec)]
    }
}
