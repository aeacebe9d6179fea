// SPDX-License-Identifier: Apache-2.0

// Adds, finds and deletes items that ask for nobody, and does the same with a bare SQLite row and AES-GCM, in turns.
//
//     WHORL_STATE_DIR=DIR/state WHORL_TCTI=none keychain ROUNDS ITEMS
//
// ITEMS lie there before. For each call a line: its name, then what `Figures.line` says.

import Foundation

struct Wrong: Error {
    let text: String
}

func run() throws {
    let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
    guard numbers.count == 2, numbers[1] > 0,
        let directory = ProcessInfo.processInfo.environment["WHORL_STATE_DIR"]
    else {
        throw Wrong(text: "usage: WHORL_STATE_DIR=DIR/state keychain ROUNDS ITEMS")
    }
    let value = Data(repeating: 7, count: 64)
    let (rounds, items) = (numbers[0], numbers[1])
    let (keychain, bare) = (KeychainItem(), try BareRow(directory + ".bare.sqlite"))
    for number in 0..<items {
        try keychain.add("before \(number)", value)
        try bare.add("before \(number)", value)
    }
    var (adds, finds, deletes) = (Figures(), Figures(), Figures())
    for round in 0..<rounds {
        let account = "account \(round)"
        try adds.take(round: round) {
            try keychain.add(account, value)
        } bare: {
            try bare.add(account, value)
        }
    }
    for round in 0..<rounds {
        // Here and there among them: 7919 is a prime.
        let account = "before \(round * 7919 % items)"
        var found: [Data?] = []
        try finds.take(round: round) {
            found.append(try keychain.find(account))
        } bare: {
            found.append(try bare.find(account))
        }
        guard found == [value, value] else { throw Wrong(text: "\(account) is not what was added") }
    }
    for round in 0..<rounds {
        let account = "account \(round)"
        try deletes.take(round: round) {
            try keychain.delete(account)
        } bare: {
            try bare.delete(account)
        }
    }
    for (call, figures) in [("add", adds), ("find", finds), ("delete", deletes)] { print(call, figures.line) }
}

try run()
