// SPDX-License-Identifier: Apache-2.0

import Glibc

@testable import PamWhorl

/// Feeds made-up bytes to what the module reads from the service, by libFuzzer.
@main
enum FuzzReplies {
    static func main() {
        var count = CommandLine.argc
        var arguments = unsafe CommandLine.unsafeArgv
        unsafe exit(
            runDriver(&count, &arguments) { start, count in
                unsafe FuzzReplies.check(Bytes(UnsafeBufferPointer(start: start, count: count)))
                return 0
            }
        )
    }

    /// Ends the program where a promise is broken: a race ends with a match only where a message is a yes by itself, and
    /// no sentence holds what a terminal obeys.
    private static func check(_ bytes: Bytes) {
        for isProven in [false, true] { check(bytes, isProven) }
    }

    private static func check(_ bytes: Bytes, _ isProven: Bool) {
        var framing = Framing()
        var race = Race(takesPassword: false, isProven: isProven)
        for byte in bytes {
            guard let message = framing.take(byte) else { continue }
            let reply = Reply(message)
            for byte in reply?.message ?? [] where byte < 0x20 || byte == 0x7f {
                fatalError("a control character")
            }
            guard race.message(message, [0]).step == .end(.matched) else { continue }
            guard let reply, reply.matched, !reply.continues, reply.error == nil else { fatalError("no yes") }
            return
        }
    }
}

/// `LLVMFuzzerRunDriver` of libFuzzer, which has no header for Swift.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ check: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
