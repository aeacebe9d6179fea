// SPDX-License-Identifier: Apache-2.0

/// The authentication lines in a service's file and in all files that it includes, in the order in which libpam runs
/// them.
struct PAMChain {
    /// An authentication line that names a module.
    struct Link {
        let module: String
        /// The name of the file that contains the line.
        let file: String
        /// Whether the line can make libpam skip later lines.
        let canJump: Bool
        /// The number of this line in the service's own file, or of the line there that includes this one.
        let top: Int
    }

    let links: [Link]
    private let isLocker: Bool

    /// Other modules that prompt for a finger; together with Whorl's module, the user would be prompted twice.
    static let fingers: Set = [
        "pam_fprintd.so", "pam_fprint.so", "pam_thinkfinger.so", "pam_biometric.so",
    ]
    /// The modules that may be skipped after a touch: they do not check or count anything, or only open a keyring.
    private static let harmless: Set = [
        "pam_cap.so", "pam_deny.so", "pam_env.so", "pam_faildelay.so", "pam_gnome_keyring.so",
        "pam_kwallet.so",
        "pam_kwallet5.so", "pam_permit.so", "pam_rootok.so", "pam_systemd_loadkey.so", "pam_warn.so",
    ]
    /// The screen lockers that only authenticate, and the modules that a touch may skip there: they decide whether and
    /// how a session begins, and the session already exists.
    private static let lockers: Set = ["gtklock", "i3lock", "swaylock"]
    private static let ofSessions: Set = ["pam_group.so", "pam_nologin.so", "pam_shells.so"]
    /// The modules that only choose which of the later lines run; those lines are checked one by one.
    private static let choosing: Set = ["pam_localuser.so", "pam_succeed_if.so", "pam_usertype.so"]

    /// Reads the entire chain of a service.
    ///
    /// - Throws: `unreadable` if an included file cannot be read or includes itself; `unclear` if libpam may read a
    ///   line differently.
    init(of stack: PAMStack, named name: String, in folder: PAMFolder) throws(PAMStack.Fault) {
        var links: [Link] = []
        try Self.read(stack, name, in: folder, depth: 0, top: nil, into: &links)
        self.links = links
        isLocker = Self.lockers.contains(name)
    }

    private static func read(
        _ stack: PAMStack,
        _ name: String,
        in folder: PAMFolder,
        depth: Int,
        top: Int?,
        into links: inout [Link]
    ) throws(PAMStack.Fault) {
        for (number, line) in try stack.clearLines().enumerated() {
            if let included = line.wholeFile ?? line.loginFile {
                // libpam has the same limit.
                guard depth < 32, let inner = folder.included(included) else { throw .unreadable(included) }
                try read(inner, included, in: folder, depth: depth + 1, top: top ?? number, into: &links)
            } else if line.isLogin, let module = line.module {
                links.append(Link(module: module, file: name, canJump: line.canJump, top: top ?? number))
            }
        }
    }

    /// The first module from another project that prompts for a finger.
    var otherFinger: Link? { links.first { Self.fingers.contains($0.module) } }

    /// Checks that Whorl's line can be inserted before a line of the service's own file, so that a touch ends the
    /// authentication there.
    ///
    /// - Throws: `asksFinger`, `skips` or `withoutPassword` if the line cannot be inserted.
    func check(before place: Int) throws(PAMStack.Fault) {
        if let other = otherFinger { throw .asksFinger(other.module, other.file) }
        let rest = links.filter { $0.top >= place }
        // Before the password, it closes the service to everyone; after it, it refuses a wrong one.
        let isOpen = rest.prefix { !PAMStack.passwords.contains($0.module) }
        if let closed = isOpen.first(where: { $0.module == "pam_deny.so" }) {
            throw .skips(closed.module, closed.file)
        }
        for link in rest where !PAMStack.passwords.contains(link.module) {
            let isHarmless =
                Self.harmless.contains(link.module) || (link.canJump && Self.choosing.contains(link.module))
                || (isLocker && Self.ofSessions.contains(link.module))
            guard isHarmless else { throw .skips(link.module, link.file) }
        }
        guard rest.contains(where: { PAMStack.passwords.contains($0.module) }) else { throw .withoutPassword }
    }

    /// Checks that a touch in another service may take the place of this chain's password.
    ///
    /// - Parameter other: The chain of the service for fingers alone, whose checks still apply.
    /// - Throws: `skips` if the touch would skip another check.
    func checkIsReplaceable(by other: PAMChain) throws(PAMStack.Fault) {
        let kept = Set(other.links.map(\.module))
        for link in links where !PAMStack.passwords.contains(link.module) {
            let isHarmless = [Self.harmless, Self.ofSessions, Self.choosing, kept, [PAMStack.module]].contains
            {
                $0.contains(link.module)
            }
            guard isHarmless else { throw .skips(link.module, link.file) }
        }
    }
}
