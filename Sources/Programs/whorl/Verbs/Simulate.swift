// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlFingerprint
import Glibc
import GreyscalePNG
import Synchronization
import SyntheticFingers
import WhorlService
import WhorlSupport

/// The command `whorl simulate`.
struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Plays the person in front of a virtual reader.",
        subcommands: [SimulateTouch.self]
    )
}

/// The command `whorl simulate touch`.
struct SimulateTouch: Verb {
    static let configuration = CommandConfiguration(
        commandName: "touch",
        abstract: "Presses a made-up finger on libfprint's virtual image reader.",
        discussion: """
            The reader is the socket that FP_VIRTUAL_IMAGE names, here and where the scan runs. It waits for a \
            scan, and returns when the press was read. A seed always makes the same finger. Example:

              export FP_VIRTUAL_IMAGE="$XDG_RUNTIME_DIR/finger"
              whorl evaluate --reason "try it" &
              whorl simulate touch 7
            """
    )

    @Argument(help: ArgumentHelp("Which finger: a number, or any word.", valueName: "finger-seed"))
    var seed: String?

    @Option(help: ArgumentHelp("Which press of the finger; each lies a little differently.", valueName: "n"))
    var press = 0

    @Option(
        help: ArgumentHelp(
            "A touch that cannot be read: \(VirtualReaderMessage.Retry.allNames.joined(separator: ", ")).",
            valueName: "retry-code"
        ),
        completion: .list(VirtualReaderMessage.Retry.allNames)
    )
    var bad: String?

    @Flag(help: "Pulls the reader out.")
    var unplug = false

    @Option(
        help: ArgumentHelp(
            "Presses a picture: its transparency where it has one, else its grey values.",
            valueName: "file"
        ),
        completion: .file(extensions: ["png"])
    )
    var image: String?

    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws(Failure) -> Answer {
        if let problem = WordsFromOutside.problem(withVariables: ["FP_VIRTUAL_IMAGE"]) { throw problem }
        guard let path = getenv("FP_VIRTUAL_IMAGE").map({ String(cString: $0) }), !path.isEmpty else {
            throw .usage(
                "FP_VIRTUAL_IMAGE is not set.",
                hint: "Set it to the path of a socket, here and where the scan runs."
            )
        }
        let (message, name) = try message()
        try await send(message, to: VirtualReader(path: path))
        session.console.used(.virtual)
        return Answer(
            result: [
                "sent": .string(name), "seed": name == "press" ? seed.map(JSONValue.string) : nil,
                "press": name == "press" ? .integer(press) : nil, "socket": .string(path),
            ],
            text: []
        )
    }

    /// Returns the message for the reader, and its name in JSON.
    private func message() throws(Failure) -> (VirtualReaderMessage, String) {
        let choices = [seed != nil, bad != nil, unplug, image != nil].filter(\.self).count
        guard choices == 1 else {
            throw .usage(
                "Give one of FINGER-SEED, --bad, --unplug and --image.",
                hint: "Example: whorl simulate touch 7 --press 2."
            )
        }
        if let bad { return (.retry(try retry(bad)), "retry") }
        if let image { return (.press(try picture(image)), "image") }
        guard let seed else { return (.unplug, "unplug") }
        guard press >= 0 else { throw .usage("--press must be 0 or more.", hint: "The first press is 0.") }
        return (.press(SyntheticFinger(seed: Self.number(seed)).press(press)), "press")
    }

    private func retry(_ text: String) throws(Failure) -> VirtualReaderMessage.Retry {
        if let number = Int32(text), let retry = VirtualReaderMessage.Retry(rawValue: number) { return retry }
        if let retry = VirtualReaderMessage.Retry.allCases.first(where: { $0.name == text }) { return retry }
        let names = VirtualReaderMessage.Retry.allNames.joined(separator: ", ")
        let typed = DisplayText.clean(text, limit: 40)
        throw .usage("There is no retry code “\(typed)”.", hint: "The codes are \(names), or 0 to 3.")
    }

    private func picture(_ path: String) throws(Failure) -> GreyImage {
        do throws(GreyscalePNGError) {
            let picture: GreyscalePNG.Picture
            do throws(GreyscalePNGError) {
                picture = try GreyscalePNG.read(path, channel: .alpha)
            } catch  where error.code == .noAlpha {
                picture = try GreyscalePNG.read(path, channel: .grey)
            }
            guard let image = GreyImage(width: picture.width, height: picture.height, pixels: picture.pixels)
            else {
                preconditionFailure("a picture that was read has as many pixels as its size says")
            }
            return image
        } catch {
            throw Failure(error)
        }
    }

    /// Returns the number itself, or FNV-1a (64 bits) of a word.
    static func number(_ seed: String) -> UInt64 {
        if let number = UInt64(seed) { return number }
        return seed.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }

    /// Sends from a thread of its own, since sending waits for the scan.
    private func send(_ message: VirtualReaderMessage, to reader: VirtualReader) async throws(Failure) {
        let once = Once()
        let patience = global.patience
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                once.set(continuation)
                let started = startThread("whorl-simulate") {
                    do throws(VirtualReaderError) {
                        try reader.send(message, timeout: patience)
                        once.resume(.success(()))
                    } catch {
                        once.resume(.failure(Failure(error)))
                    }
                }
                if !started {
                    let error = ReaderError(.malfunction, operation: "simulate", cause: "no thread is left")
                    once.resume(.failure(Failure(error)))
                }
            }
        } onCancel: {
            // An unread message would reach a later scan first; a new connection displaces it.
            _ = try? VirtualReaderSocket(connectingTo: reader.path, timeout: .zero)
            once.resume(.failure(Failure(ReaderError(.cancelled, operation: "simulate"))))
        }
        try result.get()
    }
}

/// A holder of the first of two results.
private final class Once: Sendable {
    private struct State {
        var waiting: CheckedContinuation<Result<Void, Failure>, Never>?
        var result: Result<Void, Failure>?
    }

    private let state = Mutex(State())

    func set(_ continuation: CheckedContinuation<Result<Void, Failure>, Never>) {
        let early = state.withLock { state in
            if state.result == nil { state.waiting = continuation }
            return state.result
        }
        if let early { continuation.resume(returning: early) }
    }

    func resume(_ result: Result<Void, Failure>) {
        let waiting = state.withLock { state in
            guard state.result == nil else {
                return nil as CheckedContinuation<Result<Void, Failure>, Never>?
            }
            state.result = result
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: result)
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
