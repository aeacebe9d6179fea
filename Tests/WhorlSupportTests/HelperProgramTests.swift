// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import WhorlSupport

struct HelperProgramTests {
    @Test func `a helper gets what is passed to it, and nothing else that this program has open`() throws {
        let open = Glibc.open("/dev/null", O_RDWR)
        try #require(open > 2)
        defer { close(open) }
        // The last one is the folder that ls itself reads.
        let outcome = try #require(HelperProgram(at: "/bin/ls").output(of: ["/proc/self/fd"]))
        #expect(outcome.status == 0)
        #expect(outcome.text == "0\n1\n2\n3\n")
    }

    @Test func `a helper gets a descriptor under the number that it expects`() throws {
        let pipe = try #require(PipeEnds())
        let words = ["-c", "ls /proc/self/fd >&5"]
        let process = HelperProgram(at: "/bin/sh").start(words, passing: [.init(pipe.writeEnd, as: 5)])
        close(pipe.writeEnd)
        defer { close(pipe.readEnd) }
        var bytes = [UInt8](repeating: 0, count: 64)
        var text: [UInt8] = []
        while case let count = read(pipe.readEnd, &bytes, bytes.count), count > 0 {
            text += bytes.prefix(count)
        }
        waitpid(try #require(process), nil, 0)
        #expect(String(decoding: text, as: UTF8.self) == "0\n1\n2\n3\n5\n")
    }
}
