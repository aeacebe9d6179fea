// SPDX-License-Identifier: Apache-2.0

internal import WhorlGLib
internal import WhorlLibfprint
internal import WhorlFingerprint
internal import WhorlSupport
internal import WhorlRemote
internal import WhorlSystem

/// One reader on the bus.
///
/// It runs on the GLib thread like the reader, so that both are consistent between two suspension points.
actor FprintDevice {
    nonisolated let path: String
    nonisolated let bus: BusServer
    /// The work for the reader; for another object of libfprint's after the reader was plugged in again.
    private(set) var work: any DeviceWork
    nonisolated let rights: any ClientRights
    private let dialogs: ClientDialogs
    nonisolated let report: @Sendable (String) -> Void
    /// Called after the reader has been unplugged and no client needs it any longer.
    private let gone: @Sendable (FprintDevice) -> Void

    var state = ClaimState()
    /// The verification or enrollment that was started and has not been stopped.
    var operation = Operation()
    /// The number of calls that have not been answered.
    var callsUnderWay = 0
    /// The number of calls that wait for a password dialog, which do not prevent the service from exiting.
    private var callsAtDialogs = 0
    private var watch: ClientWatch?
    /// The login session whose lock ends the claim; `nil` if there is no claim, or no lock ends it.
    private var session: String?
    private var changes: PropertyChanges?
    private var told: [String: BusContent] = [:]
    private var isUnplugged = false
    /// Called when the unplugged reader is plugged in again.
    private var waiting: [@Sendable () -> Void] = []

    /// The work for an action, and its statuses.
    struct Operation: Sendable {
        var task: Task<Void, Never>?
        var report: StatusReport?

        func cancel() {
            report?.cancel()
            task?.cancel()
        }
    }

    init(
        _ work: any DeviceWork,
        path: String,
        on bus: BusServer,
        rights: any ClientRights,
        dialogs: ClientDialogs,
        report: @escaping @Sendable (String) -> Void,
        gone: @escaping @Sendable (FprintDevice) -> Void
    ) {
        self.work = work
        self.path = path
        self.bus = bus
        self.rights = rights
        self.dialogs = dialogs
        self.report = report
        self.gone = gone
    }

    /// The executor of the GLib thread.
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        GLibExecutor.shared.asUnownedSerialExecutor()
    }

    private var reader: LibfprintReader { work.reader }
    private var id: ReaderID { reader.assumeIsolated { $0.info.id } }

    /// Returns whether this is the bus object of a reader that is plugged in.
    func serves(_ reader: LibfprintReader) -> Bool { self.reader === reader }

    /// Returns whether a client still holds its claim of a reader that was unplugged.
    func awaits(_ id: ReaderID) -> Bool { isUnplugged && self.id == id }

    /// Whether no client currently needs the reader.
    var isFree: Bool { state.isFree && callsUnderWay == callsAtDialogs }

    // MARK: - Claim and Release

    func claim(_ client: String, _ name: String) async throws(FprintError) {
        try state.requireFree()
        let user = try await user(named: name, by: client)
        guard await mayClaim(client) else { throw .permissionDenied(FprintAction.verify.rawValue) }
        let session = try await rights.session(of: client)
        try state.beginOpening(client, user: user)
        self.session = session
        watch = bus.watch(client) { [weak self] in
            guard let self else { return }
            Task(executorPreference: GLibTaskExecutor.shared) { await self.left(client) }
        }
        do throws(FprintError) {
            try await work.open()
        } catch {
            drop()
            throw error
        }
        guard state.endOpening() else { return await left(client) }
        // A lock before the session was known did not end anything.
        await endBehindLock()
    }

    private func mayClaim(_ client: String) async -> Bool {
        if await allow(.verify, client) { return true }
        return await allow(.enroll, client)
    }

    func release(_ client: String) async throws(FprintError) {
        try state.beginClosing(client)
        if state.action != .delete { await endOperation() }
        defer { drop() }
        try await work.close()
    }

    /// Releases the reader after its client has left the bus.
    private func left(_ client: String) async {
        guard state.left(client) else { return }
        do throws(FprintError) {
            try await release(client)
        } catch {
            report("The reader was released for a client that left: \(error.message)")
        }
    }

    /// Cancels the current operation and waits for it to end.
    private func endOperation() async {
        operation.cancel()
        await operation.task?.value
        state.end(.verify)
        state.end(.enroll)
        operation = Operation()
    }

    private func drop() {
        state.drop()
        session = nil
        watch = nil
        leaveIfUnplugged()
    }

    // MARK: - Stopping

    func stop(_ action: ClaimState.Action, _ client: String) async throws(FprintError) {
        try state.requireHeld(by: client)
        try state.beginStop(action)
        let stopping = operation
        if action == .verify, stopping.report?.hasEnded == true {
            // A finger that is still on the reader has one second to be lifted.
            OffPoolTimer.run(after: .seconds(1)) { stopping.cancel() }
        } else {
            stopping.cancel()
        }
        await stopping.task?.value
        // If a release came in between, it has already ended the action.
        guard state.action == action, state.isStopping else { return }
        state.end(action)
        operation = Operation()
    }

    // MARK: - Rights

    /// Returns the name of the user for whom a client makes a request.
    func user(named name: String, by client: String) async throws(FprintError) -> String {
        let own = await rights.user(of: client)
        guard let user = name.isEmpty ? own : name else { throw .permissionDenied("the client is gone") }
        guard PrintFolder.isPlain(user) else { throw .permissionDenied("“\(user)” is not a user name") }
        if user != own { try await require(.setUserName, client) }
        return user
    }

    func require(_ action: FprintAction, _ client: String) async throws(FprintError) {
        guard await allow(action, client) else { throw .permissionDenied(action.rawValue) }
    }

    /// Returns whether a client may perform an action; a dialog may ask for a password.
    ///
    /// While the screen is locked, only the program that unlocks it is served.
    func allow(_ action: FprintAction, _ client: String) async -> Bool {
        guard await !rights.isBehindLock(client) else { return false }
        switch await rights.answer(action, to: client) {
        case .yes: return true
        case .no: return false
        case .person:
            callsAtDialogs += 1
            defer { callsAtDialogs -= 1 }
            guard await dialogs.ask(action, for: client) else { return false }
            return await !rights.isBehindLock(client)
        }
    }

    /// Ends a client's operations with an error if the screen of its login session is locked.
    func endBehindLock() async {
        guard let client = state.holder?.client, await rights.isBehindLock(client) else { return }
        await endClaim(of: client)
    }

    /// Ends the claim of a client in a login session that was locked or is no longer active.
    func end(in session: String) async {
        guard let client = state.holder?.client, self.session == session else { return }
        await endClaim(of: client)
    }

    /// Ends a client's operations with an error and releases the reader; a deletion is completed first.
    private func endClaim(of client: String) async {
        guard state.holder?.client == client else { return }
        switch state.action {
        case .verify: operation.report?.tell(.verifyFailure)
        case .enroll: operation.report?.tell(.enrollFailure)
        case .delete, nil: break
        }
        await left(client)
    }

    // MARK: - Properties

    /// Starts monitoring the reader's properties, and notifies clients of changes.
    func begin() {
        told = properties()
        changes = reader.assumeIsolated { reader in
            reader.follow { [weak self] in self?.assumeIsolated { $0.tellChanges() } }
        }
    }

    /// Returns the values of the properties, by name.
    func properties() -> [String: BusContent] {
        let info = reader.assumeIsolated { $0.info }
        let finger = reader.assumeIsolated { $0.fingerStatus }
        return [
            "name": .text(info.name),
            "num-enroll-stages": .number(Int32(clamping: work.stages)),
            "scan-type": .text(info.scanType.rawValue),
            "finger-present": .flag(finger.present),
            "finger-needed": .flag(finger.needed),
        ]
    }

    private func tellChanges() {
        let now = properties()
        for (name, value) in now.sorted(by: { $0.key < $1.key }) where told[name] != value {
            bus.emit(
                "PropertiesChanged",
                of: "org.freedesktop.DBus.Properties",
                at: path,
                [.text(FprintInterface.device), .members([(name, value)]), .array(of: "s", [])]
            )
        }
        told = now
    }

    // MARK: - Removal

    /// Records that a reader was unplugged, if it is this one.
    func unplug(_ id: ReaderID) {
        guard self.id == id else { return }
        isUnplugged = true
        leaveIfUnplugged()
    }

    /// Serves the same reader after it was plugged in again, for the client that still holds its claim.
    ///
    /// Some readers are disconnected while the machine sleeps. A locker that claimed its reader before continues
    /// afterwards without a new claim.
    func replug(_ work: any DeviceWork) async {
        self.work = work
        isUnplugged = false
        tellChanges()
        begin()
        do throws(FprintError) {
            try await work.open()
        } catch {
            report("The reader was not opened again for a client that had claimed it: \(error.message)")
        }
        waiting.forEach { $0() }
        waiting = []
    }

    /// Waits at most three seconds for the reader to be plugged in again, because a locker starts its verification as
    /// soon as the machine wakes up.
    func awaitReader() async {
        guard isUnplugged else { return }
        await OffPoolTimer.wait(atMost: .seconds(3)) { isBack in waiting.append(isBack) }
    }

    /// Removes the reader from the bus if it was unplugged and no client needs it any longer.
    func leaveIfUnplugged() {
        if isUnplugged, state.isFree { gone(self) }
    }
}
