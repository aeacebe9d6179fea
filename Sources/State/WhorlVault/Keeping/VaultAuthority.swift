// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import SecretMemory
import StateStore
import WhorlTPM
import WhorlService

/// The objects that turn a match into a proof that the chip accepts: the storage root of all objects, the
/// authority's object, and its authorization value.
///
/// It is stored in the file `vault.authority`. A program that reads that file can act in place of the matcher, but only
/// on this machine.
struct VaultAuthority: Sendable {
    let root: StorageRoot
    let object: TPMObject
    /// 32 random bytes.
    let authorization: SecretBox

    /// The policy for counting up a profile's generations.
    var writePolicy: TPMPolicy { .secret(of: object.name) }

    /// The credentials that meet ``writePolicy``.
    var credentials: Credentials {
        var credentials = Credentials()
        credentials.add(object, auth: authorization)
        return credentials
    }

    /// The credentials that meet PolicyAuthValue for an object that has the authority's value as its own.
    var ownValue: Credentials {
        var credentials = Credentials()
        credentials.authValue = authorization
        return credentials
    }

    static func path(_ directory: StateDirectory) -> String { directory.file("vault.authority") }

    /// Makes the object in the chip, which does not store it.
    static func make(_ commands: borrowing TPMCommands, under root: StorageRoot) throws(TPMError)
        -> VaultAuthority
    {
        let authorization = SecretBox(SecretBytes.randomAuthorization())
        let object = try commands.createAuthority(under: root, auth: authorization, dictionaryAttack: false)
        return VaultAuthority(root: root, object: object, authorization: authorization)
    }

    /// Loads the authority of a state directory; `nil` when none was made.
    ///
    /// - Throws: `store` if the file is damaged or open to others.
    static func load(_ directory: StateDirectory) throws(VaultError) -> VaultAuthority? {
        let path = path(directory)
        do throws(StateError) {
            guard let contents = try PrivateFiles.read(path, atMost: VaultFile.largest) else { return nil }
            guard let authority = VaultAuthority(VaultFile(contents, as: .authority)) else {
                throw StateError(.keyDamaged, path: path)
            }
            return authority
        } catch {
            throw VaultError(.store(error), path)
        }
    }

    /// Writes the file, unless another process was faster.
    ///
    /// - Returns: The authority that the directory has in the end.
    func publish(_ directory: StateDirectory) throws(VaultError) -> VaultAuthority {
        let path = VaultAuthority.path(directory)
        let contents = VaultFile(parts: [root.serialized, object.serialized], secret: authorization)
        do {
            if try PrivateFiles.publish(contents.encoded(as: .authority), as: path, in: directory.path) {
                return self
            }
        } catch {
            throw VaultError(.store(error), path)
        }
        guard let first = try VaultAuthority.load(directory) else {
            throw VaultError(.store(StateError(.keyMissing, path: path)), path)
        }
        return first
    }

    private init(root: StorageRoot, object: TPMObject, authorization: SecretBox) {
        self.root = root
        self.object = object
        self.authorization = authorization
    }

    private init?(_ file: VaultFile?) {
        guard let file, file.parts.count == 2, let authorization = file.secret,
            let root = try? StorageRoot(serialized: file.parts[0]),
            let object = try? TPMObject(serialized: file.parts[1])
        else { return nil }
        self.init(root: root, object: object, authorization: authorization)
    }
}
