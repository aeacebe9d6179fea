// SPDX-License-Identifier: Apache-2.0

internal import GLibRuntime
internal import WhorlFingerprint

extension FprintDevice: ServedObject {
    nonisolated func call(
        _ method: String,
        _ parameters: BusValue,
        from client: String,
        _ reply: BusReply
    ) {
        let argument = parameters[0]?.text ?? ""
        Task(executorPreference: GLibTaskExecutor.shared) {
            await self.answer(method, argument, client, reply)
        }
    }

    nonisolated func property(_ name: String) -> BusContent? {
        assumeIsolated { $0.properties()[name] }
    }

    private func answer(_ method: String, _ argument: String, _ client: String, _ reply: BusReply) async {
        callsUnderWay += 1
        defer { callsUnderWay -= 1 }
        do throws(FprintError) {
            if let parts = try await value(of: method, argument, client, reply) { reply.answer(parts) }
        } catch {
            reply.refuse(error.busName, error.message)
        }
    }

    /// Makes the call, and returns the values of its answer; `nil` for one that is answered in the midst of its work.
    private func value(
        of method: String,
        _ argument: String,
        _ client: String,
        _ reply: BusReply
    ) async throws(FprintError) -> [BusContent]? {
        switch method {
        case "Claim": try await claim(client, argument)
        case "Release": try await release(client)
        case "ListEnrolledFingers":
            let fingers = try await list(client, argument)
            return [.array(of: "s", fingers.map { .text($0.rawValue) })]
        case "DeleteEnrolledFingers": try await deleteAll(client, ofUser: argument)
        case "DeleteEnrolledFingers2": try await deleteAll(client)
        case "DeleteEnrolledFinger": try await delete(client, argument)
        case "EnrollStart":
            try await startEnrollment(client, argument, reply)
            return nil
        case "EnrollStop": try await stop(.enroll, client)
        case "VerifyStart":
            try await startVerification(client, argument, reply)
            return nil
        case "VerifyStop": try await stop(.verify, client)
        default: throw .internal("There is no method \(method).")
        }
        return []
    }
}
