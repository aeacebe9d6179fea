// SPDX-License-Identifier: Apache-2.0

package import WhorlRemote

extension Confinement {
    /// Reads the label of a security module; `nil` for one that confines no program by a profile.
    ///
    /// AppArmor, and Snap by it, name the profile and its mode: `snap.vault.app (enforce)`. A profile that only complains
    /// stops nothing, and confines no program. SELinux's contexts are not read: on a desktop all programs share one.
    package init?(label: String) {
        guard let open = label.lastIndex(of: "("), label.hasSuffix(")"), label[..<open].hasSuffix(" ") else {
            return nil
        }
        let mode = label[label.index(after: open)...].dropLast()
        let name = label[..<open].dropLast()
        guard ["enforce", "kill", "prompt", "mixed"].contains(mode), !name.isEmpty else { return nil }
        self = .id(String(name))
    }

    /// Reads the mounts of a process; `nil` where they cannot tell which Flatpak program it is although it is one.
    ///
    /// Flatpak mounts `/.flatpak-info` into each of its sandboxes, and the program's own files at `/app`, whose place in
    /// its installation has the program's id. A sandboxed program can change neither.
    package init?(mounts: String) {
        var isFlatpak = false
        var id: String?
        // By bytes: in a text, a mark after a space or a line's end would belong to it and hide it.
        for line in mounts.utf8.split(separator: UInt8(ascii: "\n")) {
            // 36 35 98:0 /root /mount-point options … (proc_pid_mountinfo(5))
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            guard fields.count > 4 else { return nil }
            switch String(decoding: fields[4], as: UTF8.self) {
            case "/.flatpak-info": isFlatpak = true
            case "/app": id = Self.program(inFlatpak: String(decoding: fields[3], as: UTF8.self)) ?? id
            default: break
            }
        }
        guard isFlatpak || id != nil else {
            self = .none
            return
        }
        guard isFlatpak, let id else { return nil }
        self = .id("flatpak.\(id)")
    }

    /// Returns the id of a program from the place of its files: `…/app/ID/ARCHITECTURE/BRANCH/COMMIT/files`.
    private static func program(inFlatpak place: String) -> String? {
        let parts = place.split(separator: "/")
        guard parts.count >= 6, parts.last == "files", parts[parts.count - 6] == "app" else { return nil }
        let id = parts[parts.count - 5]
        let isID = id.utf8.allSatisfy { byte in
            let scalar = UnicodeScalar(byte)
            return scalar.isASCII
                && (scalar.properties.isAlphabetic || "0123456789.-_".unicodeScalars.contains(scalar))
        }
        return isID && id.contains(".") ? String(id) : nil
    }
}
