// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import SyntheticFingers

/// Touches libfprint's virtual image reader with a synthetic finger, for tests and demonstrations.
@main
struct WhorlSimulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whorl-simulate",
        abstract: "Touch libfprint's virtual image reader with a synthetic finger.",
        discussion: """
            FP_VIRTUAL_IMAGE must name the same socket here and in the program that scans. The command waits for a \
            scan and ends when the touch has been read. The same seed always produces the same finger. Example:

              export FP_VIRTUAL_IMAGE="$XDG_RUNTIME_DIR/finger"
              whorl evaluate --reason "try it" &
              whorl-simulate 7

            Exit status: 0, 11 interrupted, 13 the reader did not scan in time, 15 no reader, 21 the reader hung up, \
            64 usage, 1 anything else.
            """
    )

    @Argument(help: ArgumentHelp("Finger: a number or any word", valueName: "finger-seed"))
    var seed: String?

    @Option(help: ArgumentHelp("Touch number; each places the finger slightly differently", valueName: "n"))
    var press = 0

    @Option(
        help: ArgumentHelp(
            "Send a touch that cannot be read: \(VirtualReaderMessage.Retry.allNames.joined(separator: ", ")).",
            valueName: "retry-code"
        ),
        completion: .list(VirtualReaderMessage.Retry.allNames)
    )
    var bad: String?

    @Flag(help: "Unplug the reader")
    var unplug = false

    @Option(
        help: ArgumentHelp("Use this image, a binary PGM file with 8 bits per pixel", valueName: "file"),
        completion: .file(extensions: ["pgm"])
    )
    var image: String?

    @Option(help: ArgumentHelp("Seconds to wait for a scan", valueName: "seconds"))
    var timeout = 60.0

    func validate() throws {
        guard [seed != nil, bad != nil, unplug, image != nil].filter(\.self).count == 1 else {
            throw ValidationError("Specify one of FINGER-SEED, --bad, --unplug and --image.")
        }
        guard press >= 0 else { throw ValidationError("--press must not be negative.") }
        guard timeout >= 0, timeout <= 86_400 else {
            throw ValidationError("--timeout must be 0 to 86400 seconds.")
        }
    }

    func run() throws {
        guard let path = getenv("FP_VIRTUAL_IMAGE").map({ String(cString: $0) }), !path.isEmpty else {
            throw ValidationError("FP_VIRTUAL_IMAGE is not set.")
        }
        let reader = VirtualReader(path: path)
        let message = try message()
        withdrawWhenInterrupted(reader)
        do throws(VirtualReaderError) {
            try reader.send(message, timeout: .seconds(timeout))
        } catch {
            fail(error.message, error.recovery, status(error.code))
        }
    }

    private func message() throws -> VirtualReaderMessage {
        if let bad { return .retry(try retry(bad)) }
        if let image { return .press(picture(image)) }
        guard let seed else { return .unplug }
        return .press(SyntheticFinger(seed: Self.number(seed)).press(press))
    }

    private func retry(_ text: String) throws -> VirtualReaderMessage.Retry {
        if let number = Int32(text), let retry = VirtualReaderMessage.Retry(rawValue: number) { return retry }
        guard let retry = VirtualReaderMessage.Retry.allCases.first(where: { $0.name == text }) else {
            let names = VirtualReaderMessage.Retry.allNames.joined(separator: ", ")
            throw ValidationError("Unknown retry code. Use \(names), or 0 to 3.")
        }
        return retry
    }

    private func picture(_ path: String) -> GrayImage {
        do throws(PictureFileError) {
            return try GrayImage(pgm: PictureFile.bytes(path))
        } catch {
            fail(error.message, "Convert it: `convert FILE -depth 8 FILE.pgm` (ImageMagick).", 1)
        }
    }

    /// Returns the seed itself if it is a number, otherwise its 64-bit FNV-1a hash.
    static func number(_ seed: String) -> UInt64 {
        if let number = UInt64(seed) { return number }
        return seed.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }

    private func status(_ code: VirtualReaderError.Code) -> Int32 {
        switch code {
        case .notRead: 13
        case .noReader: 15
        case .disconnected: 21
        case .invalidPath: 64
        case .invalidPicture, .systemFailure: 1
        }
    }

    private func fail(_ message: String, _ recovery: String, _ status: Int32) -> Never {
        let text = "whorl-simulate: error: \(message)\nwhorl-simulate: hint: \(recovery)\n"
        // If this fails, no one could be notified.
        _ = write(STDERR_FILENO, text, text.utf8.count)
        Glibc.exit(status)
    }
}

extension VirtualReaderMessage.Retry {
    fileprivate static let allNames = allCases.map(\.name)

    fileprivate var name: String {
        switch self {
        case .general: "general"
        case .tooShort: "too-short"
        case .centerFinger: "center-finger"
        case .removeFinger: "remove-finger"
        }
    }
}
