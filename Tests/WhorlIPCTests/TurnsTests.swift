// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization
import Testing

@testable import WhorlIPC

// Docs/Security.md: C13b, C13e
@Suite(.timeLimit(.minutes(5))) final class `Calls that hold large values`: Sendable {
    private let turns = Turns<UInt32>(most: 2)
    private let running = Mutex<[UInt32: Int]>([:])
    private let most = Mutex<[UInt32: Int]>([:])
    private let sizes = Mutex<[Int]>([])
    private let crowd = Mutex<[Int]>([])

    private func count(_ uid: UInt32, _ change: Int) {
        let now = running.withLock { running in
            running[uid, default: 0] += change
            return running[uid] ?? 0
        }
        most.withLock { $0[uid] = max($0[uid] ?? 0, now) }
    }

    @Test func `are two of each user at a time, and all have their turn`() async throws {
        let ended = await withTaskGroup { group in
            for number in 0..<60 {
                let user = UInt32(number % 3)
                group.addTask { [self] in
                    do throws(ServiceRefusal) {
                        return try await turns.take(user) { () async throws(ServiceRefusal) in
                            count(user, 1)
                            for _ in 0..<20 { await Task.yield() }
                            count(user, -1)
                            // One that fails leaves its turn too.
                            if number % 7 == 0 { throw ServiceRefusal("org.example.test.Refused") }
                            return 1
                        }
                    } catch { return 1 }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(ended == 60)
        #expect(most.withLock(\.self).values.allSatisfy { $0 <= 2 })
        #expect(running.withLock(\.self).values.allSatisfy { $0 == 0 })
    }

    @Test func `have together the size that they may have, and one that is larger has its turn alone`() async
    {
        let turns = Turns<Bool>(most: 10)
        let all = [4, 4, 4, 25, 1, 9, 10, 1, 1, 25, 25, 3]
        await withTaskGroup { group in
            for size in all {
                group.addTask { [self] in
                    await turns.take(true, size: size) {
                        let together = sizes.withLock { now in
                            now.append(size)
                            return now
                        }
                        crowd.withLock {
                            if together.reduce(0, +) > 10 && together.count > 1 { $0 = together }
                        }
                        for _ in 0..<20 { await Task.yield() }
                        sizes.withLock { now in now.firstIndex(of: size).map { _ = now.remove(at: $0) } }
                    }
                }
            }
        }
        #expect(crowd.withLock(\.self) == [])
        #expect(sizes.withLock(\.self) == [])
    }

    @Test func `are told by memory files that grow no more, and smaller ones than the method takes`() throws {
        var path = Array("/dev/shm/whorl-test-XXXXXX".utf8CString)
        let growing = Descriptor(owning: mkstemp(&path))
        unlink(path)
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let end = Descriptor(owning: ends[0])
        close(ends[1])
        let files = [
            try SecretDescriptor.make([1, 2, 3]), growing, try SecretDescriptor.make([1, 2, 3, 4]), end,
        ]
        let call = CallDescriptors(files)
        call.close(behind: 4, largerThan: 3)
        #expect(call.size == 3)
        #expect(call.all.map(\.number) == [files[0].number, end.number])
    }
}
