// SPDX-License-Identifier: Apache-2.0

import Glibc

/// KDE's desktop, whose programs keep their passwords in KWallet.
///
/// KWallet has neither gnome-keyring's socket nor its prompts, so only a login can unlock it.
enum Plasma {
    /// Whether this session is one of Plasma's.
    static var isRunning: Bool {
        // A list of names, separated by colons (Desktop Entry Specification).
        guard let names = getenv("XDG_CURRENT_DESKTOP") else { return false }
        return String(cString: names).split(separator: ":").contains("KDE")
    }

    /// The sentence below the keyring's state.
    static let sentence =
        "KDE's programs use KWallet, which only a login by touch can unlock: --on-demand requires gnome-keyring."
}

extension Failure {
    /// The failure if there is KWallet instead of gnome-keyring.
    static let kwallet = Failure(
        code: "noKeyring",
        message: "This session uses KWallet, which a touch cannot unlock on demand.",
        recovery: "Use 'whorl keyring on' without --on-demand to unlock it when you log in by touch."
    )
}
