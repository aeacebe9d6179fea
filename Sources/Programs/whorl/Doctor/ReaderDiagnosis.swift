// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlService
import WhorlRemote
import WhorlSupport
import WhorlUSB

/// The checks of the readers: which ones exist, whether they can be opened, and which prints they store.
struct ReaderDiagnosis: Sendable {
    let session: Session
    private var services: Services { session.services }

    func checks() async -> [Check] {
        let usb = USBReaders.connected()
        var checks = [await found(usb)] + usb.compactMap(node)
        if let fprintd = Processes.named("fprintd") {
            checks.append(
                .note(
                    "fprintd",
                    "It is running (process \(fprintd)) and holds the reader while a program uses it.",
                    remedy: "If the reader is busy: sudo systemctl stop fprintd"
                )
            )
        }
        return checks + (await shared(with: FprintdPlace())) + [readerLock()].compactMap(\.self)
            + (await chosen())
    }

    /// Returns a check for each reader from which fprintd's own daemon can delete the service's fingers.
    private func shared(with place: FprintdPlace) async -> [Check] {
        guard session.place == .system, place == .fprintd else { return [] }
        // A failure was already reported with the reader.
        guard let readers = try? await services.readers.readers() else { return [] }
        var checks: [Check] = []
        for reader in readers {
            if let check = Self.shared(await reader.info, with: place) { checks.append(check) }
        }
        return checks
    }

    /// Returns the check of a reader that fprintd's own daemon also uses; `nil` if the daemon cannot delete prints from
    /// it.
    static func shared(_ reader: ReaderInfo, with place: FprintdPlace) -> Check? {
        guard place.endangersPrints(in: reader) else { return nil }
        let way =
            reader.features.contains(.storageList)
            ? "it deletes prints it does not know when the reader is full or already knows the finger"
            : "it clears the reader before its own first enrollment"
        return .warning(
            "shared reader",
            "fprintd also uses \(reader.name) (\(reader.id)) and can delete Whorl's fingers from it: \(way).",
            remedy: FprintdPlace.remedy
        )
    }

    /// Returns the check of the lock that prevents two programs from using one reader at the same time; `nil` if the
    /// lock works.
    private func readerLock() -> Check? {
        guard let trouble = services.readers.readerLockTrouble else { return nil }
        return .bad(
            "lock file",
            "Cannot lock a reader for one program at a time: \(Console.phrase(trouble.cause)).",
            remedy: "Fix this, then run `whorl doctor` again."
        )
    }

    private func found(_ usb: [USBReaders.Device]) async -> Check {
        do throws(ServiceError) {
            let readers = try await services.readers.readers()
            guard !readers.isEmpty else { return .bad("reader", missing(usb), remedy: remedy(usb)) }
            var names: [String] = []
            for reader in readers {
                let info = await reader.info
                names.append("\(info.name) (\(info.id))")
            }
            return .good("reader", "\(readers.count) connected: \(names.joined(separator: ", ")).")
        } catch {
            return .bad("reader", Failure(error))
        }
    }

    private func missing(_ usb: [USBReaders.Device]) -> String {
        usb.isEmpty
            ? "No supported fingerprint reader found."
            : "A supported reader is connected (\(usb[0].id)), but libfprint does not list it."
    }

    private func remedy(_ usb: [USBReaders.Device]) -> String {
        usb.isEmpty
            ? "Connect one; see https://fprint.freedesktop.org/supported-devices.html"
            : "Unplug it, plug it in again, and run `whorl doctor` again."
    }

    /// Returns the check of who can open a USB reader; `nil` if the engine runs in this program and may open it.
    private func node(_ device: USBReaders.Device) -> Check? {
        guard session.place != .system, !ServiceInstallation().isInstalled else {
            return Self.check(device.access, of: device)
        }
        guard !device.isAccessible else { return nil }
        return .bad(
            "permission",
            "You are not allowed to open \(device.node) (\(device.id)).",
            remedy: "Ask an administrator to install the service: the package whorld, or sudo make install."
        )
    }

    /// Returns the check of who can open a reader that the service owns.
    static func check(_ access: ReaderAccess, of device: USBReaders.Device) -> Check {
        let name = "reader's node"
        let details = DisplayText.clean(access.details.joined(separator: ", "), limit: 200)
        switch access.state {
        case .closed:
            return .good(name, "Only the service can open \(device.node) (\(device.id)).")
        case .open:
            return .bad(
                name,
                "\(device.node) (\(device.id)) can be opened by \(details), who can replace the fingers stored in it.",
                remedy: """
                    Remove the rule that opens it (grep -l uaccess /etc/udev/rules.d/*), then run close-readers as root \
                    (udev/README.md).
                    """
            )
        case .unknown, .pretended:
            return .warning(
                name,
                "Cannot check who can open \(device.node) (\(device.id)): \(details).",
                remedy: "Check it with getfacl \(device.node)."
            )
        }
    }

    private func chosen() async -> [Check] {
        let reader: any FingerprintReader
        do throws(ServiceError) {
            reader = try await services.readers.chosenReader()
        } catch {
            // A missing reader was already reported.
            return error.code == .readerNotChosen ? [.bad("choice", Failure(error))] : []
        }
        let info = await reader.info
        session.console.used(info.kind)
        var checks = [await opening(reader, info)]
        if info.kind != .hardware {
            checks.append(.note("test reader", "\(info.id) is not a real reader (\(info.kind.rawValue))."))
        }
        if let strength = Self.strength(info) { checks.append(strength) }
        if checks[0].isOK, info.storage == .reader { checks += await storage(reader) }
        return checks
    }

    /// Returns the check of how likely a stranger's finger matches; `nil` if the reader does not compare fingers.
    static func strength(_ info: ReaderInfo) -> Check? {
        switch info.strength {
        case .minutiaeScore(let threshold) where threshold >= 40:
            .good("strength", "libfprint uses its usual match threshold (\(threshold)).")
        case .minutiaeScore(let threshold):
            .note(
                "strength",
                "libfprint accepts a score of \(threshold) as a match, because this reader's images are small; 40 is "
                    + "usual. A stranger is accepted more easily.",
                remedy: "Enroll only the fingers you use. Use another reader where it matters."
            )
        case .onReader:
            .note("strength", "The reader matches on its chip; the manufacturer publishes no error rates.")
        case .none: nil
        }
    }

    private func opening(_ reader: any FingerprintReader, _ info: ReaderInfo) async -> Check {
        do throws(ReaderError) {
            try await reader.open()
            try await reader.close()
            return .good("access", "\(info.id) can be opened.")
        } catch {
            // The service's own refusal says nothing about the reader.
            if error.code == .permissionDenied, error.operation == "service" {
                return .note("access", "Could not open \(info.id): \(DisplayText.clean(error.cause))")
            }
            return .bad("access", Failure(error))
        }
    }

    /// Returns the checks that compare the prints stored in a reader with the enrolled fingers.
    private func storage(_ reader: any FingerprintReader) async -> [Check] {
        let name = "stored prints"
        do {
            let state = try await services.ask(ReconcileReader())
            // Without a list, the prints in it are unknown.
            guard await reader.info.features.contains(.storageList) else {
                return [.note(name, "This reader cannot list its prints.")]
            }
            guard let state else { return [strays(try await stored(in: reader).map(\.metadata))] }
            guard state.isListed else { return [.note(name, "This reader cannot list its prints.")] }
            return [strays(state.strays), missing(state)].compactMap { $0 }
        } catch {
            // The check of the store reports errors of the store.
            let failure = Failure(error)
            return failure.status == .storeFailed ? [] : [.bad(name, failure)]
        }
    }

    /// Returns the prints in the reader; if no finger was ever enrolled, all of them are foreign.
    private func stored(in reader: any FingerprintReader) async throws -> [StoredPrint] {
        let prints = await Result {
            try await reader.open()
            return try await reader.storedPrints(whenBusy: .wait)
        }
        await closeAnyway(reader)
        return try prints.get()
    }

    private func strays(_ prints: [EnrollmentMetadata]) -> Check {
        guard !prints.isEmpty else { return .good("stored prints", "All are known.") }
        let owners = prints.map { print in
            [print.finger?.spokenName, print.userName.map { "of \($0)" }]
                .compactMap(\.self).joined(separator: " ")
        }.map { $0.isEmpty ? "unnamed" : $0 }
        return .note(
            "stored prints",
            "\(prints.count) unknown: \(owners.joined(separator: ", ")).",
            remedy:
                "Remove them on the system that enrolled them; whorl devices exercise --clear-storage deletes all prints."
        )
    }

    private func missing(_ state: ReaderReconciliation) -> Check? {
        guard let first = state.missing.first else { return nil }
        let names = state.missing.map(\.finger.rawValue).joined(separator: ", ")
        return .bad(
            "missing prints",
            "\(state.missing.count) enrolled here, but no longer in the reader: \(names).",
            remedy: "whorl remove \(first.id), then whorl enroll \(first.finger.rawValue)"
        )
    }
}
