// SPDX-License-Identifier: Apache-2.0

/// The program's options.
struct Options: Sendable {
    static let usage = "[--keep-open-in-sleep] [--lock-with-screen] [--pause SECONDS]"

    /// Whether the keyring is locked before the computer sleeps.
    private(set) var locksInSleep = true
    /// Whether the keyring is locked when the screen is.
    private(set) var locksWithScreen = false
    /// The time without prompts for a keyring after the user has dismissed one.
    private(set) var pause = Duration.seconds(60)

    /// Parses the program's arguments; `nil` if they are invalid.
    init?(_ words: some Sequence<String>) {
        var words = words.makeIterator()
        while let word = words.next() {
            switch word {
            case "--keep-open-in-sleep": locksInSleep = false
            case "--lock-with-screen": locksWithScreen = true
            case "--pause":
                guard let seconds = words.next().flatMap({ Int($0) }), (0...86_400).contains(seconds) else {
                    return nil
                }
                pause = .seconds(seconds)
            default: return nil
            }
        }
    }
}
