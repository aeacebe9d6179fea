// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import WhorlFingerprint
import WhorlIPC
import WhorlService
import WhorlSupport

extension ServiceHost {
    /// The most prints in one call: all fingers on several readers.
    private static let mostPrints = 64

    /// Adds the call with which root brings prints of another program.
    func addTakeOver(_ router: inout Router, _ logins: LoginAccess) {
        router.on(LoginInterface.takeOver) { (asked, call) async throws(ServiceRefusal) in
            guard call.client.user.uid == logins.asker else {
                throw ServiceRefusal(LoginRefused.rootAlone)
            }
            let prints = try prints(asked, call)
            let caller = await rules.caller(call.client)
            let outcome: Result<[TakingOver], ServiceRefusal>
            do throws(ServiceRefusal) {
                outcome = .success(
                    try await refusing { () async throws(FingerChangeError) in
                        try await logins.takeOver(asked.user, prints, asked.isTrial)
                    }
                )
            } catch {
                outcome = .failure(error)
            }
            let change = asked.isTrial ? "see which prints could be taken over" : "take over prints"
            let purpose = CallPurpose(
                application: "whorl import-fprintd",
                text: "\(change) for user \(asked.user), \(prints.count) of them"
            )
            rules.record(CallRecord(LoginInterface.takeOver.name, purpose, outcome), of: caller)
            return Valued(try outcome.get())
        }
    }

    private func prints(
        _ asked: LoginInterface.TakingOverCall,
        _ call: ServiceCall
    ) throws(ServiceRefusal) -> [ForeignPrint] {
        guard asked.prints.count <= Self.mostPrints else { throw .invalidParameter("prints") }
        let bytes = try call.secret(at: asked.bytes)
        var begin = 0
        var prints: [ForeignPrint] = []
        for print in asked.prints {
            guard print.size > 0, print.size <= bytes.count - begin else { throw .invalidParameter("prints") }
            let template = bytes.withUnsafeBytes { Template(bytes: Array($0[begin..<begin + print.size])) }
            begin += print.size
            prints.append(
                ForeignPrint(
                    finger: print.finger,
                    driver: print.driver,
                    number: print.number,
                    template: template
                )
            )
        }
        guard begin == bytes.count else { throw .invalidParameter("bytes") }
        return prints
    }
}
