// SPDX-License-Identifier: Apache-2.0

// A password safe for the terminal.
//
//     password-safe add example.org ada        read the password from standard input
//     password-safe show example.org ada...    prompt for a finger once, then show the passwords
//     password-safe list
//     password-safe remove example.org ada

import LocalAuthentication

func fail(_ message: String, _ status: Int32 = 1) -> Never {
    FileHandle.standardError.write(Data("password-safe: \(message)\n".utf8))
    exit(status)
}

let safe = Safe()
let words = Array(CommandLine.arguments.dropFirst())
do {
    switch (words.first, words.count) {
    case ("add", 3):
        guard let password = readLine(), !password.isEmpty else { fail("No password was given.", 64) }
        try safe.add(password, for: Safe.Entry(site: words[1], account: words[2]))
    case ("show", 3...):
        for account in words.dropFirst(2) {
            print(try safe.password(for: Safe.Entry(site: words[1], account: account)))
        }
    case ("list", 1):
        for entry in try safe.entries() { print(entry.site, entry.account) }
    case ("remove", 3):
        try safe.remove(Safe.Entry(site: words[1], account: words[2]))
    default:
        fail("usage: password-safe add|show|remove SITE ACCOUNT, or password-safe list", 64)
    }
} catch let failure as Safe.Failure {
    fail("\(failure)")
} catch {
    fail(error.localizedDescription)
}
