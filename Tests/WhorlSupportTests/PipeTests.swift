// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import WhorlSupport

struct PipeTests {
    @Test func `the ends of a pipe go to no other program, and a byte wakes with a copy left open`() throws {
        let ends = try #require(PipeEnds(isBlocking: false))
        defer { ends.close() }
        for end in [ends.readEnd, ends.writeEnd] { #expect(fcntl(end, F_GETFD) == FD_CLOEXEC) }
        let copy = dup(ends.writeEnd)
        defer { close(copy) }
        var byte: UInt8 = 1
        #expect(read(ends.readEnd, &byte, 1) == -1)
        ends.wake()
        #expect(read(ends.readEnd, &byte, 1) == 1)
    }
}
