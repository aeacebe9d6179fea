// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSocket
internal import Glibc

/// The interface by which a process proves to a service that it is the one that connected.
private enum ProofInterface {
    static let challenge = "io.whorl.Connection.Challenge"
    static let prove = "io.whorl.Connection.Prove"

    struct Question: Decodable { let question: String? }
    struct Answer: Encodable { let answer: String }
    struct None: Codable {}

    /// Checks that the service continues to serve a process whose proof it did not accept.
    ///
    /// - Throws: Any other refusal, for example because the user's share is used up. The service closes the connection
    ///   after such a refusal, so the call itself would not receive the reason.
    static func goOn(after refusal: ServiceRefusal) throws(ServiceCallError) {
        guard refusal.name == "io.whorl.Connection.NotProven" else { throw .refused(refusal) }
    }
}

extension Descriptor {
    /// Whether the kernel identifies the process at the other end (`SO_PEERPIDFD`, Linux 6.5), as it then does for the
    /// service.
    fileprivate var kernelNamesProcess: Bool {
        var number: Int32 = -1
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(self.number, SOL_SOCKET, Int32(WHORL_SO_PEERPIDFD), &number, &size) == 0, number >= 0
        else { return false }
        close(number)
        return true
    }
}

extension ServiceConnection {
    /// Proves this process's identity to the service, unless the kernel reports it.
    ///
    /// If the service does not accept the proof, it continues without one. It then does not know the process's name and
    /// session.
    package func proveProcess() async throws(ServiceCallError) {
        guard !socket.kernelNamesProcess else { return }
        try await answerChallenge()
    }

    /// Answers the service's challenge about the process's identity.
    func answerChallenge() async throws(ServiceCallError) {
        do throws(ServiceCallError) {
            let asked: CallReply<ProofInterface.Question> = try await call(
                ProofInterface.challenge,
                ProofInterface.None()
            )
            guard let question = asked.parameters.question else { return }
            let _: CallReply<ProofInterface.None> = try await call(
                ProofInterface.prove,
                ProofInterface.Answer(answer: question)
            )
        } catch .refused(let refusal) {
            try ProofInterface.goOn(after: refusal)
        }
    }
}

extension BlockingCall {
    /// Proves this process's identity to the service, as ``ServiceConnection/proveProcess()`` does.
    package mutating func proveProcess() throws(ServiceCallError) {
        guard !socket.kernelNamesProcess else { return }
        try answerChallenge()
    }

    /// Answers the service's challenge about the process's identity.
    mutating func answerChallenge() throws(ServiceCallError) {
        do throws(ServiceCallError) {
            let asked: CallReply<ProofInterface.Question> = try call(
                ProofInterface.challenge,
                ProofInterface.None()
            )
            guard let question = asked.parameters.question else { return }
            let _: CallReply<ProofInterface.None> = try call(
                ProofInterface.prove,
                ProofInterface.Answer(answer: question)
            )
        } catch .refused(let refusal) {
            try ProofInterface.goOn(after: refusal)
        }
    }
}
