// SPDX-License-Identifier: Apache-2.0

// Writes to stdout what `matcher` reads: for each finger 13 pictures of 192 × 256 bytes, in the order of
// `presses`.

internal import Glibc
import SyntheticFingers

/// The first of the seeds that the benchmark takes, far from those that the generator's parameters were
/// chosen with.
let firstSeed: UInt64 = 0xBE9C_0000_0000

let presses =
    (0..<10).map { (index: $0, quality: PressQuality.normal) }
    + [(10, .careful), (11, .hard), (12, .partial)]

let seeds: [UInt64]
switch CommandLine.arguments.dropFirst().first {
case "test-seeds": seeds = SyntheticFinger.testSeeds
case let count?: seeds = (0..<(UInt64(count) ?? 0)).map { firstSeed + $0 }
case nil: seeds = []
}
if seeds.isEmpty {
    writeAll(Array("usage: presses COUNT | presses test-seeds\n".utf8), to: STDERR_FILENO)
    exit(64)
}

for seed in seeds {
    let finger = SyntheticFinger(seed: seed, cache: nil)
    for press in presses {
        writeAll(finger.press(press.index, quality: press.quality).pixels, to: STDOUT_FILENO)
    }
}

func writeAll(_ bytes: [UInt8], to file: CInt) {
    bytes.withUnsafeBytes { bytes in
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            guard written > 0 else {
                perror("presses")
                exit(74)
            }
            rest = rest.dropFirst(written)
        }
    }
}
