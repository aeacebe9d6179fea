// SPDX-License-Identifier: Apache-2.0

package import WhorlGLib
package import WhorlLibfprint
internal import WhorlCallers
package import WhorlFingerprint
internal import WhorlSupport
internal import WhorlSystem

/// fprintd's service on the bus, with its manager and the readers.
package actor FprintService {
    private let bus: BusServer
    private let rights: any ClientRights
    private let dialogs: ClientDialogs
    /// Returns the work for a reader; `nil` if the reader is not served.
    private let work: @Sendable (LibfprintReader) async -> (any DeviceWork)?
    private let report: @Sendable (String) -> Void
    private var devices: [(device: FprintDevice, registration: UInt32)] = []
    private var nextNumber = 0

    /// The executor of the GLib thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        GLibExecutor.shared.asUnownedSerialExecutor()
    }

    /// Creates a service for the accounts' fingers, which does not serve anything yet.
    ///
    /// Attempts are counted, and the set of enrolled fingers changes with each finger.
    ///
    /// - Parameters:
    ///   - bus: The bus.
    ///   - accounts: Returns the fingers that the user with a name has on a reader; `nil` if the user does not exist.
    ///   - isServed: Returns whether a reader may be used.
    ///   - rights: The rights of clients.
    ///   - report: Receives sentences for the log.
    package init(
        on bus: BusServer,
        accounts: @escaping FingersOfAccount,
        isServed: @escaping @Sendable (ReaderInfo) -> Bool,
        rights: any ClientRights = SystemRights(lock: LockRule(Logind(bus: .serving))),
        report: @escaping @Sendable (String) -> Void
    ) {
        self.init(on: bus, rights: rights, report: report) { reader in
            guard isServed(await reader.info) else { return nil }
            return EnrolledWork(reader, accounts: accounts, log: report)
        }
    }

    /// Creates a service with custom work for the readers, which does not serve anything yet.
    ///
    /// - Parameters:
    ///   - bus: The bus.
    ///   - rights: The rights of clients.
    ///   - report: Receives sentences for the log.
    ///   - work: Returns the work for a reader; `nil` if the reader is not served.
    package init(
        on bus: BusServer,
        rights: any ClientRights,
        report: @escaping @Sendable (String) -> Void,
        work: @escaping @Sendable (LibfprintReader) async -> (any DeviceWork)?
    ) {
        self.bus = bus
        self.rights = rights
        dialogs = ClientDialogs(rights)
        self.report = report
        self.work = work
    }

    /// Finds and serves the readers, and then claims the bus name, so that a client that sees the name also sees the
    /// readers.
    ///
    /// - Parameter lost: Called if another process owns the name, or the bus has disconnected.
    /// - Throws: An error if the readers cannot be found or the bus is not available.
    package func begin(lost: @escaping @Sendable () -> Void) async throws {
        let changes = await LibfprintSource.shared.changes()
        for reader in try await LibfprintSource.shared.libfprintReaders() { try await add(reader) }
        try bus.serve(
            FprintManager(service: self),
            at: FprintInterface.root + "/Manager",
            interface: FprintInterface.managerDescription
        )
        try bus.serve(
            FprintTree(service: self),
            at: FprintInterface.root,
            interface: FprintInterface.treeDescription
        )
        Task(executorPreference: GLibTaskExecutor.shared) {
            for await change in changes { await self.follow(change) }
        }
        bus.own(FprintInterface.name, lost: lost)
    }

    /// Ends the operations of clients in a login session that was locked or is no longer active.
    package func end(in session: String) async {
        for (device, _) in devices { await device.end(in: session) }
    }

    /// Returns whether no client currently needs a reader.
    package func isFree() async -> Bool {
        for (device, _) in devices where await !device.isFree { return false }
        return true
    }

    /// The readers' paths, in the order in which the readers were connected.
    var paths: [String] { devices.map(\.device.path) }

    /// The interfaces and properties of the readers, by path.
    var tree: [BusContent.Entry] {
        devices.map { BusContent.Entry(.path($0.device.path), Self.interfaces(of: $0.device)) }
    }

    // MARK: - Readers that come and go

    private func add(_ reader: LibfprintReader) async throws {
        guard let work = await work(reader) else { return }
        let id = await reader.info.id
        guard !devices.contains(where: { $0.device.assumeIsolated { $0.serves(reader) } }) else { return }
        if let held = devices.first(where: { $0.device.assumeIsolated { $0.awaits(id) } }) {
            return await held.device.replug(work)
        }
        let device = FprintDevice(
            work,
            path: FprintInterface.root + "/Device/\(nextNumber)",
            on: bus,
            rights: rights,
            dialogs: dialogs,
            report: report
        ) { [weak self] device in
            guard let self else { return }
            Task(executorPreference: GLibTaskExecutor.shared) { await self.remove(device) }
        }
        nextNumber += 1
        await device.begin()
        let registration = try bus.serve(
            device,
            at: device.path,
            interface: FprintInterface.deviceDescription
        )
        devices.append((device, registration))
        bus.emit(
            "InterfacesAdded",
            of: FprintInterface.tree,
            at: FprintInterface.root,
            [.path(device.path), Self.interfaces(of: device)]
        )
    }

    private func remove(_ device: FprintDevice) {
        guard let place = devices.firstIndex(where: { $0.device === device }) else { return }
        bus.remove(devices.remove(at: place).registration)
        bus.emit(
            "InterfacesRemoved",
            of: FprintInterface.tree,
            at: FprintInterface.root,
            [.path(device.path), .array(of: "s", [.text(FprintInterface.device)])]
        )
    }

    private func follow(_ change: ReaderChange) async {
        switch change {
        case .added:
            do {
                for reader in try await LibfprintSource.shared.libfprintReaders() { try await add(reader) }
            } catch {
                report("Cannot serve a new reader: \(error)")
            }
        case .removed(let id):
            for (device, _) in devices { await device.unplug(id) }
        }
    }

    private static func interfaces(of device: FprintDevice) -> BusContent {
        let properties = device.assumeIsolated { $0.properties() }.sorted { $0.key < $1.key }
        let entry = BusContent.Entry(
            .text(FprintInterface.device),
            .members(properties.map { ($0.key, $0.value) })
        )
        return .dictionary(key: "s", value: "a{sv}", [entry])
    }
}
