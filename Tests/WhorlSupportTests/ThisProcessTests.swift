// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlSupport

@Suite struct `This process` {
    @Test(arguments: [
        ("/usr/bin/vault", "vault"), ("/usr/bin/vault (deleted)", "vault"), ("/opt/a b/c d (deleted)", "c d"),
        ("/opt/(deleted) x", "(deleted) x"), ("/memfd:vault (deleted)", "memfd:vault"),
        // A file may be called so; then only one mark is the kernel's.
        ("/opt/x (deleted) (deleted)", "x (deleted)"),
    ])
    func `is named by its file, replaced or not`(path: String, name: String) {
        #expect(ThisProcess.fileName(ofProgram: path) == name)
    }

    @Test(arguments: ["", "/"])
    func `has no name where the kernel tells none`(path: String) {
        #expect(ThisProcess.fileName(ofProgram: path) == nil)
    }

    @Test func `has the variables that Foundation reads`() async {
        await #expect(processExitsWith: .success) {
            setenv("WHORL_TEST_EMPTY", "", 1)
            setenv("WHORL_TEST_EQUALS", "=a=b", 1)
            guard ThisProcess.trustedEnvironment == ProcessInfo.processInfo.environment else { exit(2) }
            // The accent belongs to the value, and is one character with the sign before it.
            setenv("WHORL_TEST_ACCENT", "\u{301}a", 1)
            guard ThisProcess.trustedEnvironment["WHORL_TEST_ACCENT"] == "\u{301}a" else { exit(3) }
            clearenv()
            exit(ThisProcess.trustedEnvironment.isEmpty ? 0 : 4)
        }
    }

    @Test func `hides its memory from core files and from others of its user`() async {
        await #expect(processExitsWith: .success) {
            guard ThisProcess.hideMemory() else { exit(2) }
            var core = rlimit(rlim_cur: 1, rlim_max: 1)
            getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &core)
            typealias Call = @convention(c) (CInt, UInt, UInt, UInt, UInt) -> CInt
            let prctl = unsafeBitCast(dlsym(nil, "prctl"), to: Call.self)
            let isDumpable = prctl(3, 0, 0, 0, 0)  // PR_GET_DUMPABLE
            exit(core.rlim_cur == 0 && core.rlim_max == 0 && isDumpable == 0 ? 0 : 1)
        }
    }
}
