// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import MockReader
import WhorlStateStore
import WhorlTerminalPrompt
import WhorlUSB

@testable import SyntheticFingers
@testable import WhorlSystem
@testable import whorl

extension FuzzTarget {
    static let configurationTargets: [FuzzTarget] = [
        FuzzTarget(name: "environment", longestInput: 1024, check: environment),
        FuzzTarget(name: "reader-choice", longestInput: 1024, check: readerChoice),
        FuzzTarget(name: "usb-list", longestInput: 1024, check: usbList),
    ]

    private static let variables = [
        "WHORL_STATE_DIR", "WHORL_PROFILE", "WHORL_READER", "XDG_STATE_HOME", "XDG_CACHE_HOME", "HOME",
        "TERM",
        "NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG",
    ]

    /// State lies where a variable says it, else at an absolute path: never in the folder where a program happens
    /// to run.
    private static func environment(_ input: [UInt8]) throws(BrokenPromise) {
        var input = InputReader(input)
        var environment: [String: String] = [:]
        while !input.isAtEnd {
            environment[variables[Int(input.byte()) % variables.count]] = input.text()
        }
        let configuration = SystemConfiguration(environment: environment)
        let directory = InProcessRoot(configuration).stateDirectory.path
        if let named = environment["WHORL_STATE_DIR"], !named.isEmpty {
            try promise(
                directory == named,
                "\(directory.debugDescription) in place of \(named.debugDescription)"
            )
        } else {
            try promise(directory.hasPrefix("/"), "\(directory.debugDescription) for \(environment)")
        }
        let cache = FingerCache.standard { environment[$0] }
        try promise(cache?.directory.hasPrefix("/") ?? true, "\(cache?.directory.debugDescription ?? "")")
        _ = TerminalStyle(terminalOfColumns: Int(input.number()), environment: environment)
    }

    /// A mock answers only where one is named and allowed.
    private static func readerChoice(_ input: [UInt8]) throws(BrokenPromise) {
        var input = InputReader(input)
        let isAllowed = input.flag()
        let name = String(decoding: input.remainder(), as: UTF8.self)
        // No input names a file: what is in it would be the machine's and not the input's.
        guard !name.hasPrefix("mock:@") else { return }
        let source = try? ReaderChoice(wanted: name, allowsPretended: isAllowed).source()
        let isNamed = name == "mock" || name.hasPrefix("mock:")
        switch source {
        case nil: try promise(isNamed, "\(name.debugDescription) is refused as a mock is")
        case is MockReaderSource:
            try promise(
                isNamed && isAllowed,
                "\(name.debugDescription) is a mock, which is named: \(isNamed)"
            )
        default: try promise(!isNamed, "\(name.debugDescription) names no mock")
        }
    }

    /// What is taken from the system's list of readers can be a device's numbers in the kernel's own form.
    private static func usbList(_ input: [UInt8]) throws(BrokenPromise) {
        for id in USBReaders.ids(in: String(decoding: input, as: UTF8.self)) {
            let halves = id.split(separator: ":", omittingEmptySubsequences: false)
            try promise(
                halves.count == 2
                    && halves.allSatisfy { $0.count == 4 && $0.allSatisfy("0123456789abcdef".contains) },
                "\(id.debugDescription) is no device"
            )
        }
    }
}
