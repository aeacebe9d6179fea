// SPDX-License-Identifier: Apache-2.0

import Glibc

/// libFuzzer with one of the targets: `WHORL_FUZZ_TARGET=png fuzz [libFuzzer's own arguments]`.
///
/// The target stands in a variable, since libFuzzer starts itself anew with its own arguments for some of its tasks.
@main
enum Driver {
    private static let target: FuzzTarget? = {
        guard let name = getenv("WHORL_FUZZ_TARGET") else { return nil }
        return FuzzTarget.all.first { $0.name == String(cString: name) }
    }()

    static func main() {
        guard target != nil else {
            // For scripts/fuzz: the names, with the most bytes that each input shall have.
            for target in FuzzTarget.all { print(target.name, target.longestInput) }
            return
        }
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(runDriver(&count, &arguments) { bytes, count in Driver.check(bytes, count) })
    }

    private static func check(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        do {
            try target?.check(Array(UnsafeBufferPointer(start: bytes, count: count)))
        } catch {
            // libFuzzer takes the end of the process for a finding, and keeps the input.
            fatalError("broken promise: \(error)")
        }
        return 0
    }
}

/// `LLVMFuzzerRunDriver` of libFuzzer, which has no header for Swift.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ check: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
