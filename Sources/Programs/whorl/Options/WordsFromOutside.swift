// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlService
import WhorlSupport

/// Checks that the arguments and variables are valid UTF-8.
///
/// Linux passes bytes. Swift silently reads bytes that are not UTF-8 as U+FFFD, which gives another name: another
/// directory, another profile.
enum WordsFromOutside {
    /// Returns the failure of arguments that are not text; `nil` when all of them are text.
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

    /// Returns the failure of the first of these variables that is not text; `nil` when all of them are.
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
