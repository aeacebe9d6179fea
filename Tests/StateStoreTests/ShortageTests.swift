// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

@testable import WhorlStateStore
import WhorlService

struct ShortageTests {
    /// In a process of its own, since the limit is the whole process's.
    @Test func `too few files that may be open are named as the cause, wherever they run out`() async {
        await #expect(processExitsWith: .success) {
            let home = try TemporaryDirectory()
            _ = try StateDatabase(directory: home.state)
            var failures = 0
            for spare in 0..<12 {
                // Those that are free now, and no more.
                let free = (0...spare).map { _ in dup(0) }
                for descriptor in free { close(descriptor) }
                var limit = rlimit(rlim_cur: rlim_t(free.last ?? 0), rlim_max: 1024)
                guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { exit(3) }
                do throws(ServiceError) {
                    _ = try StateDatabase.openExisting(home.state)
                } catch {
                    guard error.message.hasSuffix("this process has too many files open."),
                        error.recovery.contains("raise the limit")
                    else {
                        exit(1)
                    }
                    failures += 1
                }
                limit.rlim_cur = 1024
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            }
            exit((2...11).contains(failures) ? 0 : Int32(100 + failures))
        }
    }

    @Test func `a system that is full of open files is named too`() {
        let error = ServiceError(errno: ENFILE, path: "/x")
        #expect(error.message == "/x cannot be opened: the system has too many files open.")
        #expect(error.recovery.contains("/proc/sys/fs/file-nr"))
    }
}
