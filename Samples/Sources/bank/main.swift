// SPDX-License-Identifier: Apache-2.0

// Banking in a terminal: a touch shows the balance; a touch and the password transfer money. scripts/bank starts it with
// everything that it requires.
//
//     bank LOGIN-SERVER BANK      such as: bank https://login.example https://bank.example

import BiometricLogin
import BiometricLoginHTTP
import Foundation

let words = CommandLine.arguments.dropFirst().compactMap { LoginOrigin($0) }
guard words.count == 2, CommandLine.arguments.count == 3 else {
    print("usage: bank LOGIN-SERVER BANK, both as https://host or http://localhost:port")
    exit(64)
}
let transport = URLSessionTransport()
var options = LoginOptions()
// There is no fallback button. Users who cannot use a finger cancel.
options.fallbackTitle = ""
let teller = Teller(
    login: LoginClient(server: words[0], transport: transport, options: options),
    bank: BankService(origin: words[1], transport: transport)
)

while let line = typed("bank> ") {
    let words = line.split(separator: " ").map { String($0) }
    if ["quit", "exit"].contains(words.first) { break }
    do {
        switch (words.first, words.count) {
        case (nil, _): break
        case ("status", 1): print(try await teller.status())
        case ("enable", 1): print(try await teller.enable())
        case ("balance", 1): print("You have \(try await teller.balance()).")
        case ("transfer", 3):
            guard let amount = Money(words[1]) else { print("An amount is such as 25 or 25.50."); break }
            print("Done. You have \(try await teller.transfer(amount, to: words[2])).")
        case ("sign-out", 1): print(await teller.signOut())
        case ("disable", 1): print(try await teller.disable())
        default: print("status, enable, balance, transfer AMOUNT TO, sign-out, disable, quit")
        }
    } catch let error as LoginError {
        print(Teller.words(for: error))
    } catch let refusal as BankService.Refusal {
        print(refusal.words)
    } catch {
        print("The bank cannot be reached.")
    }
}
