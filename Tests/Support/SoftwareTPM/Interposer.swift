// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// Something on the bus between a program and its TPM: it hears everything, and may drop, answer or change what it likes.
///
/// Its socket is beside the TPM's; the address is a `swtpm:` one.
public final class Interposer: Sendable {
    /// What becomes of one command.
    public enum Action: Sendable {
        /// The TPM gets it, and its answer goes back.
        case pass
        /// The TPM does not get it, and the line is cut.
        case cut
        /// The TPM does it, and the line is cut before the answer.
        case cutAnswer
        /// The TPM does it; then this is called, such as a power cut, and the line is cut before the answer.
        case cutAnswerAfter(@Sendable () -> Void)
        /// The TPM does not get it; this response code is the answer.
        case answer(UInt32)
        /// The TPM does it; the last byte of the answer is changed.
        case change
        /// Another TPM gets it.
        case elsewhere(socket: String)
        /// The program that sent it is killed (SIGKILL) and the line is cut; the TPM does the command before that, or not at all.
        case killSender(commandIsDone: Bool)
        /// This answers in the TPM's place; it gets the command and a way to the TPM.
        case serve(@Sendable (_ command: [UInt8], _ tpm: ([UInt8]) -> [UInt8]?) -> [UInt8]?)
    }

    /// One command as it went by.
    public struct Heard: Sendable {
        /// The TPM_CC.
        public let code: UInt32
        /// The command's bytes.
        public let command: [UInt8]
        /// The answer's bytes; empty when there was none.
        public var answer: [UInt8] = []
    }

    private struct State {
        var heard: [Heard] = []
        var action: @Sendable (_ number: Int, _ code: UInt32) -> Action = { _, _ in .pass }
    }

    private let state = Mutex(State())
    private let target: String
    private let path: String
    private let listeners: [UnixSocket]

    /// Starts listening in front of a TPM.
    public init(inFrontOf tpm: SoftwareTPM) throws {
        target = tpm.socket
        path = tpm.directory.appending(path: "i\(UInt16.random(in: 0...UInt16.max))").path
        listeners = [try UnixSocket(listeningAt: path), try UnixSocket(listeningAt: path + ".ctrl")]
        let handlers: [@Sendable (Interposer, UnixSocket) -> Void] = [
            { $0.serve($1) },
            // SET_LOCALITY, and nothing else, is asked there.
            { _, peer in while peer.read(5) != nil { peer.send([0, 0, 0, 0]) } },
        ]
        for (listener, handle) in zip(listeners, handlers) {
            Thread.detachNewThread { [weak self] in
                while let peer = listener.accepted() {
                    guard let self else { return }
                    handle(self, peer)
                }
            }
        }
    }

    deinit { for listener in listeners { listener.stop() } }

    /// The TCTI string.
    public var address: String { "swtpm:path=\(path)" }

    /// What went by since the last ``forget()``.
    public var heard: [Heard] { state.withLock(\.heard) }

    /// Forgets what went by; the next command is number 0 again.
    public func forget() { state.withLock { $0.heard = [] } }

    /// Decides about each command, by its number since the last ``forget()`` and its TPM_CC.
    public func decide(_ action: @escaping @Sendable (_ number: Int, _ code: UInt32) -> Action) {
        state.withLock { $0.action = action }
    }

    /// Waits until the TPM has done all that ended programs had sent to it: a command is on its way still when its program
    /// is killed.
    ///
    /// One connection is served after the other, so a new one comes after theirs. It waits for running programs, too.
    public func settle() throws {
        let last = try UnixSocket(connectingTo: path)
        last.endSending()
        guard last.read(1) == nil else { throw SoftwareTPMError.noAnswer }
    }

    /// Whether these bytes went by in one command or answer.
    public func heardBytes(_ bytes: [UInt8]) -> Bool {
        let needle = Data(bytes)
        return heard.contains { [$0.command, $0.answer].contains { Data($0).range(of: needle) != nil } }
    }

    private func serve(_ peer: UnixSocket) {
        while let command = peer.message() {
            let code = command[6..<10].reduce(0) { $0 << 8 | UInt32($1) }
            let (number, action) = state.withLock { state in
                state.heard.append(Heard(code: code, command: command))
                return (state.heard.count - 1, state.action(state.heard.count - 1, code))
            }
            guard let answer = answer(to: command, action, peer) else { return }
            state.withLock { if $0.heard.indices.contains(number) { $0.heard[number].answer = answer } }
            peer.send(answer)
        }
    }

    private func answer(to command: [UInt8], _ action: Action, _ sender: UnixSocket) -> [UInt8]? {
        switch action {
        case .pass: return forward(command, to: target)
        case .cut: return nil
        case .cutAnswer:
            _ = forward(command, to: target)
            return nil
        case .cutAnswerAfter(let happening):
            _ = forward(command, to: target)
            happening()
            return nil
        case .answer(let code): return [0x80, 0x01] + bigEndian(10) + bigEndian(code)
        case .change:
            guard var answer = forward(command, to: target) else { return nil }
            answer[answer.count - 1] ^= 1
            return answer
        case .elsewhere(let socket): return forward(command, to: socket)
        case .killSender(let commandIsDone):
            if commandIsDone { _ = forward(command, to: target) }
            sender.killPeer()
            return nil
        case .serve(let body): return body(command) { forward($0, to: target) }
        }
    }

    private func forward(_ command: [UInt8], to socket: String) -> [UInt8]? {
        try? UnixSocket(connectingTo: socket).exchange(command)
    }
}

extension Interposer {
    /// The names of the commands that went by.
    public var names: [String] { heard.map { TPMCommandName.of($0.code) } }
}
