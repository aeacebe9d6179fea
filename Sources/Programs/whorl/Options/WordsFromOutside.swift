// SPDX-License-Identifier: Apache-2.0

import Authentication
import Glibc
import WhorlSupport

/// Looks whether the arguments and variables are text at all.
///
/// Linux passes bytes. Swift reads bytes that are no UTF-8 as U+FFFD, without a word, and that is another name: another
/// directory, another profile.
enum WordsFromOutside {
    /// What is wrong with the arguments; `nil` when all of them are text.
    static func problemWithArguments() -> Failure? {
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index], String(validatingCString: argument) == nil
            else {
                continue
            }
            return problem("Argument \(index)", "“\(shown(argument))”")
        }
        return nil
    }

    /// What is wrong with the first of these variables that is no text; `nil` when all of them are.
    static func problem(withVariables names: [String]) -> Failure? {
        for name in names {
            guard let value = getenv(name), String(validatingCString: value) == nil else { continue }
            return problem("The variable \(name)", "“\(shown(value))”")
        }
        return nil
    }

    private static func problem(_ what: String, _ text: String) -> Failure {
        .usage("\(what) is not valid UTF-8: \(text).", hint: "Type it again, or give the file another name.")
    }

    private static func shown(_ bytes: UnsafeMutablePointer<CChar>) -> String {
        DisplayText.clean(String(cString: bytes), limit: 60)
    }
}
