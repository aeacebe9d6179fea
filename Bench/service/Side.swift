// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import SyntheticFingers
import WhorlFingerprint
import WhorlRemote
import WhorlService
import WhorlSystem

/// One of the two that are compared: the engine in this process, or behind a socket.
struct Side {
    let services: Services
    /// The socket of the virtual reader that this side uses alone.
    let reader: VirtualReader
    /// The number of the child's process; `nil` for the engine in this process.
    let process: Int32?

    /// Makes the engine of this process; libfprint reads the reader's socket from this process's environment.
    static func own(_ folder: String) -> Side {
        let reader = folder + "/own.socket"
        setenv("FP_VIRTUAL_IMAGE", reader, 1)
        let root = InProcessRoot(SystemConfiguration(environment: variables(folder + "/own", reader)))
        return Side(services: root.services, reader: VirtualReader(path: reader), process: nil)
    }

    /// Starts whorld as a child, with a directory and a reader of its own.
    static func child(_ folder: String) throws -> Side {
        let reader = folder + "/child.socket"
        let child = try PrivateChild.start(ServiceChoices(variables(folder + "/child", reader)))
        return Side(
            services: .remote(profile: "bench", application: application, over: child.transport),
            reader: VirtualReader(path: reader),
            process: child.process
        )
    }

    static let application = ApplicationID(rawValue: "org.example.bench")

    private static func variables(_ state: String, _ reader: String) -> [String: String] {
        [
            "WHORL_STATE_DIR": state, "WHORL_PROFILE": "bench", "WHORL_TCTI": "none",
            "FP_VIRTUAL_IMAGE": reader,
            "PATH": "/usr/bin:/bin",
        ]
    }

    /// Enrolls a synthetic finger.
    func enroll() async throws {
        let presses = Atomic(0)
        let reader = reader
        _ = try await services.ask(
            EnrollFinger(NewFinger(.rightIndex), ConsentRequest(application: Self.application)),
            presenter: Fingertip(reader: reader, press: 0)
        ) { progress in
            guard case .scan(.touch) = progress else { return }
            let press = presses.add(1, ordering: .relaxed).oldValue
            Fingertip.press(press, on: reader)
        }
    }

    /// Evaluates with one press.
    ///
    /// - Returns: The time from the last byte of the picture to the answer, in milliseconds.
    func evaluate(press: Int) async throws -> Double {
        let fingertip = Fingertip(reader: reader, press: press)
        _ = try await services.evaluate(
            EvaluationRequest(
                policy: .biometrics,
                purpose: .yes,
                reason: "be measured",
                application: Self.application
            ),
            presenter: fingertip
        )
        let end = ContinuousClock.now
        // The thread that sent the picture may be behind the answer.
        for _ in 0..<1000 where fingertip.pressedAt == nil { try await Task.sleep(for: .milliseconds(1)) }
        guard let begin = fingertip.pressedAt else { throw BenchFault("no touch was asked for") }
        return (end - begin) / .milliseconds(1)
    }
}

/// A prompt that presses a finger when the reader waits for one, and shows nothing.
final class Fingertip: PromptPresenter {
    private let reader: VirtualReader
    private let press: Int
    private let time = Mutex<ContinuousClock.Instant?>(nil)

    init(reader: VirtualReader, press: Int) {
        self.reader = reader
        self.press = press
    }

    var isInteractive: Bool { true }
    /// The time at which the picture was sent.
    var pressedAt: ContinuousClock.Instant? { time.withLock(\.self) }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        for await update in entry.updates {
            guard case .scan(.touch) = update else { continue }
            let picture = Self.picture(press)
            let reader = reader
            Thread.detachNewThread {
                do throws(VirtualReaderError) {
                    try reader.send(picture, timeout: .seconds(5))
                    self.time.withLock { $0 = .now }
                } catch {
                    tell(error.message)
                }
            }
        }
        return nil
    }

    /// Presses from a thread of its own, since sending waits for the scan.
    static func press(_ press: Int, on reader: VirtualReader) {
        let picture = picture(press)
        Thread.detachNewThread {
            do throws(VirtualReaderError) {
                try reader.send(picture, timeout: .seconds(5))
            } catch {
                tell(error.message)
            }
        }
    }

    private static let pictures: [VirtualReaderMessage] = {
        let finger = SyntheticFinger(seed: SyntheticFinger.testSeeds[0])
        return (0..<10).map { .press(finger.press($0)) }
    }()

    private static func picture(_ press: Int) -> VirtualReaderMessage { pictures[press % pictures.count] }
}

/// A fault of the bench itself.
struct BenchFault: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Writes a line to the standard error.
func tell(_ text: String) { FileHandle.standardError.write(Data("ServiceBench: \(text)\n".utf8)) }
