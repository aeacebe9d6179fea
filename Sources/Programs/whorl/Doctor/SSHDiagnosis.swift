// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlService
import WhorlSupport

/// The checks of SSH keys and the agent; there are none for a user without an SSH key.
struct SSHDiagnosis {
    let session: Session

    /// The number of keys that a server accepts before it ends a login, less one (sshd_config(5), MaxAuthTries).
    private static let mostOffered = 5

    func checks() async -> [Check] {
        // Other checks report a vault that cannot be read; without HOME, there are no files to check.
        guard let keys = try? await session.items(.sshKey), !keys.isEmpty, let folder = try? SSHFolder()
        else {
            return []
        }
        let offered = keys.count > Self.mostOffered ? offered(folder) : nil
        return [agent(), folderCheck(folder), files(folder, keys), fingers(keys), offered].compactMap(\.self)
    }

    private func agent() -> Check {
        guard SSHAgent.isListening else {
            return .warning(
                "ssh agent",
                "The SSH agent is not enabled, so ssh and git cannot use your SSH keys.",
                remedy: "whorl ssh enable"
            )
        }
        let current = getenv("SSH_AUTH_SOCK").map { String(cString: $0) }
        guard current != SSHAgent.socket else {
            return .good("ssh agent", "The agent is enabled, and SSH_AUTH_SOCK is set to it.")
        }
        return .note(
            "ssh agent",
            "The agent is enabled. SSH_AUTH_SOCK is \(current ?? "not set"), so only programs that read ~/.ssh/config use it.",
            remedy: "whorl ssh config >> ~/.ssh/config, or whorl ssh enable --default"
        )
    }

    private func folderCheck(_ folder: SSHFolder) -> Check? {
        let above = String(folder.path.dropLast("/whorl".count))
        var found = stat()
        guard stat(above, &found) == 0 else { return nil }
        guard found.st_uid == geteuid(), found.st_mode & 0o022 == 0 else {
            return .bad(
                "ssh folder",
                "Other users can change ~/.ssh, so ssh does not use it.",
                remedy: "chmod 700 ~/.ssh"
            )
        }
        return nil
    }

    private func files(_ folder: SSHFolder, _ keys: [VaultItem]) -> Check? {
        let present = folder.files
        guard !present.isEmpty else { return nil }
        let wanted = keys.map { folder.file(of: $0.id.name) }
        guard let old = present.first(where: { !wanted.contains($0) && folder.isOwn($0) }) else { return nil }
        return .warning(
            "ssh files",
            "\(folder.shown(old)) belongs to a key that no longer exists.",
            remedy: "whorl ssh config"
        )
    }

    private func fingers(_ keys: [VaultItem]) -> Check? {
        guard let key = keys.first(where: \.access.isBoundToCurrentSet) else { return nil }
        return .warning(
            "ssh keys",
            "The key \(key.id.name.text) stops working when a finger is added or removed.",
            remedy: "Keep another way into your servers, or replace it: whorl ssh create NAME"
        )
    }

    private func offered(_ folder: SSHFolder) -> Check? {
        let above = String(folder.path.dropLast("/whorl".count))
        let limits = Files.text(above + "/config")?.lowercased().contains("identitiesonly") ?? false
        guard !limits else { return nil }
        return .warning(
            "ssh config",
            "ssh offers all of your keys, and servers refuse a login after \(Self.mostOffered + 1).",
            remedy: "whorl ssh config >> ~/.ssh/config, with one IdentityFile for each host"
        )
    }
}
