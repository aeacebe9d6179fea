// SPDX-License-Identifier: Apache-2.0

import Testing
import WhorlFingerprint

@testable import WhorlLibfprint

// Docs/Security.md: S5
/// A print's bytes from elsewhere are checked before libfprint reads them, since it ends the process for some.
@Suite(.serialized, .timeLimit(.minutes(10))) struct `A print from elsewhere` {
    private func requireSafe(_ print: Template) async throws {
        #expect(PrintForm.fault(of: print.bytes) == nil)
        let source = LibfprintSource()
        #expect(await source.saved(print) != nil)
        // Cut anywhere, it is no print, and the process is still there.
        for count in 0..<print.bytes.count {
            let cut = Template(bytes: Array(print.bytes.prefix(count)))
            #expect(await source.saved(cut) == nil, "\(count) of \(print.bytes.count) bytes")
        }
        // Altered anywhere, it is a print or none; libfprint reads it where it is one.
        for place in print.bytes.indices {
            for change: UInt8 in [0x01, 0x80, 0xFF] {
                var bytes = print.bytes
                bytes[place] ^= change
                _ = await source.saved(Template(bytes: bytes))
            }
        }
    }

    @Test
    func `of a reader that keeps prints is none where it was cut, and does no harm where it was altered`()
        async throws
    {
        try await withVirtualDevice(.storage) { bench, _ in try await requireSafe(try await bench.enroll(0)) }
    }

    @Test func `of pictures is none where it was cut, and does no harm where it was altered`() async throws {
        let bench = try VirtualImageBench()
        let reader = try await bench.reader()
        try await reader.open()
        let (touches, touched) = AsyncStream.makeStream(of: Void.self)
        async let enrolled = reader.enroll(EnrollmentMetadata(), whenBusy: .wait) { event in
            if event == .touch { touched.yield() }
        }
        var asked = touches.makeAsyncIterator()
        for _ in 0..<5 {
            await asked.next()
            try await bench.present(0)
        }
        let print = try await enrolled
        try await reader.close()
        try await bench.tearDown()
        try await requireSafe(print)
    }

    @Test(arguments: [
        "", "F", "FP3", "FP3\0", "FP2 of an older libfprint", "FP3" + String(repeating: "\0", count: 64),
    ])
    func `is none with such bytes`(_ text: String) async {
        #expect(await LibfprintSource().saved(Template(bytes: Array(text.utf8))) == nil)
    }
}
