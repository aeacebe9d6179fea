// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// A device or a key on the command line.
///
/// Both are Base64url, so that one in 64 starts with a dash, and some with two. The parser would treat those as
/// options: an operator who revokes the device of a stolen laptop would see the help, with exit status 0.
struct IdentifierArgument: ExpressibleByArgument {
    /// The device or the key.
    let text: String

    private static let mark: Character = "\u{1}"

    init(argument: String) {
        text = argument.first == Self.mark ? String(argument.dropFirst()) : argument
    }

    /// Returns the arguments with a mark before each identifier that starts with a dash, so that the parser does not
    /// treat it as an option.
    ///
    /// An identifier has 22 characters (a device) or 43 (a key). No option of that length contains a capital letter, a
    /// digit or an underscore, or starts with only one dash.
    static func marking(_ arguments: [String]) -> [String] {
        arguments.map { argument in
            guard argument.hasPrefix("-"), [22, 43].contains(argument.utf8.count),
                argument.utf8.allSatisfy(Self.isBase64URL), !isOption(argument)
            else { return argument }
            return String(mark) + argument
        }
    }

    private static func isOption(_ argument: String) -> Bool {
        argument.hasPrefix("--")
            && argument.utf8.dropFirst(2).allSatisfy { $0 == 0x2D || (0x61...0x7A).contains($0) }
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x2D, 0x5F, 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
