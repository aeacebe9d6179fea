// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import WhorlSupport

@Suite(.timeLimit(.minutes(5))) struct `A thread of its own` {
    @Test func `has its name and takes no signals`() async throws {
        let seen = await onThread("whorl-a-long-name") { () -> (String?, Bool) in
            var mask = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &mask)
            let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
            return (name, sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGPIPE) == 1)
        }
        let (name, isDeaf) = try #require(seen)
        #expect(name == "whorl-a-long-na\n")
        #expect(isDeaf)
    }

    @Test func `that the system has no room for is told`() async {
        await #expect(processExitsWith: .success) {
            // Each thread needs address space for its stack.
            var none = rlimit(rlim_cur: 1 << 20, rlim_max: 1 << 20)
            setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &none)
            let isStarted = startThread("whorl-none") {}
            _exit(isStarted ? 1 : 0)
        }
    }

    // Docs/Security.md: C11a
    @Test func `ends when it has nothing to do, and begins again`() async {
        let thread = JobThread("whorl-jobs", idle: .milliseconds(50))
        #expect(!thread.isRunning)
        for _ in 0..<3 {
            let isCurrent = await withCheckedContinuation { done in
                thread.add { done.resume(returning: thread.isCurrent) }
            }
            #expect(isCurrent)
            while thread.isRunning { await Task.yield() }
        }
    }

    // Docs/Security.md: C11b
    @Test func `waits for a thread where the system has none left, and ends no program`() async {
        let refused = Mutex(0)
        let thread = JobThread("whorl-late") { name, body in
            let isFirst = refused.withLock { refused in
                refused += 1
                return refused <= 3
            }
            return isFirst ? false : startThread(name, body)
        }
        await withCheckedContinuation { done in thread.add { done.resume() } }
        #expect(refused.withLock(\.self) == 4)
    }

    @Test func `runs jobs in their order, and none after its end`() async {
        let thread = JobThread("whorl-jobs")
        let order = Mutex<[Int]>([])
        for number in 0..<100 { thread.add { order.withLock { $0.append(number) } } }
        await withCheckedContinuation { done in
            thread.add { done.resume() }
            thread.close()
        }
        thread.add { order.withLock { $0.append(-1) } }
        #expect(order.withLock(\.self) == Array(0..<100))
        #expect(!thread.isCurrent)
    }
}
