// SPDX-License-Identifier: Apache-2.0

internal import WhorlGLib
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
            // Swift compares strings with many combining marks slowly, and no name is longer.
            guard argument.utf8.count <= 256 else { throw .internal("A name has more than 256 bytes.") }
            if let parts = try await value(of: method, argument, client, reply) { reply.answer(parts) }
        } catch {
            reply.refuse(error.busName, error.message)
        }
    }

    /// Executes the call and returns the values of its reply; `nil` if the reply is sent during the work.
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
        default: throw .internal("Unknown method \(method).")
        }
        return []
    }
}

/// A client's actions, after its claim and its rights have been checked.
extension FprintDevice {
    func list(_ client: String, _ name: String) async throws(FprintError) -> [Finger] {
        let user = try await user(named: name, by: client)
        try await require(.verify, client)
        let fingers = try await work.enrolledFingers(of: user)
        guard !fingers.isEmpty else { throw .noEnrolledPrints }
        return fingers
    }

    // MARK: - Scans

    func startEnrollment(_ client: String, _ name: String, _ reply: BusReply) async throws(FprintError) {
        let user = try await userOfHolder(client)
        guard let finger = Finger(rawValue: name) else { throw .invalidFingername(name) }
        try state.requireIdle()
        let isOthers = await rights.user(of: client) != user
        let scan = try await work.enrollment(of: finger, for: user, isOthers: isOthers, asking(client)) {
            reply.answer()
        }
        try state.requireHeld(by: client)
        try state.begin(.enroll)
        run(scan, "EnrollStatus")
        await endBehindLock()
    }

    func startVerification(_ client: String, _ name: String, _ reply: BusReply) async throws(FprintError) {
        try state.requireHeld(by: client)
        try await require(.verify, client)
        await awaitReader()
        try state.requireHeld(by: client)
        try state.requireIdle()
        let (told, scan) = try await work.verification(of: name, for: state.holder?.user ?? "")
        try state.requireHeld(by: client)
        try state.begin(.verify)
        reply.answer()
        bus.emit("VerifyFingerSelected", of: FprintInterface.device, at: path, [.text(told)])
        run(scan, "VerifyStatus")
        // A lock before this point did not end anything.
        await endBehindLock()
    }

    private func run(_ scan: @escaping DeviceWork.Scan, _ signal: String) {
        let report = StatusReport { [bus, path] status in
            let parts: [BusContent] = [.text(status.word), .flag(status.isDone)]
            bus.emit(signal, of: FprintInterface.device, at: path, parts)
        }
        let task = Task(executorPreference: GLibTaskExecutor.shared) { await scan(report) }
        operation = Operation(task: task, report: report)
    }

    // MARK: - Deleting

    func deleteAll(_ client: String, ofUser name: String) async throws(FprintError) {
        try state.requireFreeOrHeld(by: client)
        let user = try await user(named: name, by: client)
        try await require(.enroll, client)
        try state.requireFreeOrHeld(by: client)
        try await delete(try await work.deletableFingers(of: user), of: user, client)
    }

    func deleteAll(_ client: String) async throws(FprintError) {
        let user = try await userOfHolder(client)
        try await delete(try await work.deletableFingers(of: user), of: user, client)
    }

    func delete(_ client: String, _ name: String) async throws(FprintError) {
        let user = try await userOfHolder(client)
        guard let finger = Finger(rawValue: name) else { throw .invalidFingername(name) }
        try await delete(try await work.deletableFingers(of: user).filter { $0 == finger }, of: user, client)
    }

    private func delete(_ fingers: [Finger], of user: String, _ client: String) async throws(FprintError) {
        try state.requireIdle()
        guard !fingers.isEmpty else { throw .noEnrolledPrints }
        let deletion = try await work.deletion(of: fingers, for: user, asking(client)) { [weak self] in
            self?.assumeIsolated { $0.state.holder != nil } ?? false
        }
        try state.requireFreeOrHeld(by: client)
        if await work.isBusyWhileDeleting { try state.begin(.delete) }
        defer {
            state.end(.delete)
            leaveIfUnplugged()
        }
        try await deletion()
    }

    /// Returns the user for whom a client has claimed the reader; throws if the client may not enroll.
    private func userOfHolder(_ client: String) async throws(FprintError) -> String {
        try state.requireHeld(by: client)
        try await require(.enroll, client)
        try state.requireHeld(by: client)
        return state.holder?.user ?? ""
    }

    private func asking(_ client: String) -> DeviceWork.Asking {
        { action in await self.allow(action, client) }
    }
}
