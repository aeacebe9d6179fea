// SPDX-License-Identifier: Apache-2.0

import WhorlCallers
import WhorlRemote

extension FuzzTarget {
    static let callerTargets: [FuzzTarget] = [
        FuzzTarget(name: "caller-mounts", longestInput: 1024, check: mounts),
        FuzzTarget(name: "caller-label", longestInput: 256, check: label),
    ]

    /// Only mounts that are a Flatpak's in full have an id, and it is one of a program.
    private static func mounts(_ input: [UInt8]) throws(BrokenPromise) {
        let text = String(decoding: input, as: UTF8.self)
        let own = "1 0 254:0 / / rw - ext4 d rw"
        let flatpak = FlatpakInstallation(mounts: own.utf8, folder: "/", isRoots: { _ in true })
        guard case .id(let id) = Confinement(mounts: input, of: flatpak) else { return }
        try promise(id.hasPrefix("flatpak."), "\(id) is no Flatpak's")
        try promise(text.contains(" /.flatpak-info"), "\(id) has no mark of a Flatpak")
        try promise(
            id.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789.-_".unicodeScalars.contains($0))
            },
            "\(id) is no id"
        )
    }

    /// Only a label with the mode of a profile that stops something has an id, which stands in the label.
    private static func label(_ input: [UInt8]) throws(BrokenPromise) {
        let text = String(decoding: input, as: UTF8.self)
        guard case .id(let id) = Confinement(label: text) else { return }
        try promise(!id.isEmpty && text.hasPrefix(id + " ("), "\(id) is not the label's")
    }
}
