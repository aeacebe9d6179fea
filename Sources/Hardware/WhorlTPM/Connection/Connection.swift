// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2
internal import Glibc

/// The owner of an ESYS context and its TCTI, which makes all calls on both.
///
/// It never leaves the TPM's thread, because it is not `Sendable` and only `TPMDevice` has a reference to it.
final class Connection {
    let address: TPMAddress
    /// The ESYS context (`Esys_Finalize`).
    ///
    /// It uses ``tcti`` (`Tss2_TctiLdr_Finalize`), which must outlive it.
    let esys: OpaquePointer
    private let tcti: OpaquePointer
    /// The objects and the session that stay loaded between sequences.
    let cache = SlotCache()
    var pins = Pins()
    /// Whether the connection failed or a response could not be trusted, so that nothing can be flushed over the
    /// connection.
    private(set) var isBroken = false
    /// Whether the TPM itself has ever responded to a command.
    private(set) var hasAnswered = false
    /// The time for which objects may stay loaded before other programs get the slots, if there is no resource manager.
    let turn: Duration
    /// The time when this program started keeping objects loaded.
    var turnStarted = ContinuousClock.now
    /// The objects and sessions that could not be flushed because the connection broke.
    private(set) var leftovers: [Leftover] = []

    init(to address: TPMAddress, turn: Duration) throws(TPMError) {
        try DeviceNode.check(address)
        self.address = address
        self.turn = turn
        tcti = try Self.openTCTI(address)
        var esys: OpaquePointer?
        let code = ResponseCode(raw: Esys_Initialize(&esys, tcti, nil))
        guard code.isSuccess, let esys else {
            var tcti: OpaquePointer? = tcti
            Tss2_TctiLdr_Finalize(&tcti)
            throw TPMError(code, command: "Esys_Initialize")
        }
        self.esys = esys
    }

    deinit {
        cache.flushAll(on: self)
        var esys: OpaquePointer? = esys
        var tcti: OpaquePointer? = tcti
        Esys_Finalize(&esys)
        Tss2_TctiLdr_Finalize(&tcti)
    }

    private static func openTCTI(_ address: TPMAddress) throws(TPMError) -> OpaquePointer {
        var tcti: OpaquePointer?
        // Never NULL: with NULL the loader searches for a TCTI, down to a TCP port.
        let code = ResponseCode(raw: Tss2_TctiLdr_Initialize(address.text, &tcti))
        guard code.isSuccess, let tcti else {
            throw DeviceNode.explain(TPMError(code, command: "Tss2_TctiLdr_Initialize"), at: address)
        }
        return tcti
    }

    // MARK: Calls

    /// The pauses in milliseconds before each retry that the TPM requests, 2.5 s in total.
    ///
    /// ESAPI itself resends a command five times without a pause for RETRY, YIELDED and TESTING, but not for NV_RATE.
    static let pauses: [UInt32] = [5, 10, 20, 40, 80, 160, 320, 640, 1280]

    /// Makes one ESAPI call and repeats it if the TPM requests a retry.
    ///
    /// - Parameters:
    ///   - command: The TPM's name of the command, for errors.
    ///   - body: A function that makes the call. Out-pointers are set only if the call succeeds.
    /// - Throws: The error returned by the TPM or tpm2-tss.
    func call(_ command: String, _ body: (OpaquePointer) -> TSS2_RC) throws(TPMError) {
        var pauses = Self.pauses[...]
        var triesForRoom = 0
        var mayStart = true
        while true {
            guard !isBroken else {
                throw TPMError(.connectionLost, command: command, cause: "it broke before")
            }
            let code = ResponseCode(raw: body(esys))
            // Functions of tpm2-tss itself, such as `Esys_TR_Deserialize()`, send nothing to the TPM.
            if code.isOfTPM, command.hasPrefix("TPM2_") { hasAnswered = true }
            if code.isSuccess { return }
            // After rejecting a response, ESAPI accepts no further commands.
            if !code.isOfTPM { isBroken = true }
            if code.asksForRetry, let pause = pauses.popFirst() {
                usleep(pause * 1000)
            } else if code.asksForRoom, triesForRoom < (address.flushesAtClose ? 1 : Sharing.tries) {
                // Another program holds slots. Flush objects that are kept only for speed.
                if triesForRoom > 0 { usleep(Sharing.pause) }
                triesForRoom += 1
                cache.flushIdle(on: self)
            } else if code.asksForStartup, mayStart {
                mayStart = false
                _ = Esys_Startup(esys, TPM2_SU_CLEAR)
            } else {
                if code.isStale { cache.forget(on: self) }
                let error = TPMError(code, command: command)
                throw error.code == .lockout(seconds: nil)
                    ? error.told(as: .lockout(seconds: secondsOfLockout)) : error
            }
        }
    }

    /// The maximum duration of a lockout, in seconds.
    ///
    /// The TPM does not report the remaining time.
    private var secondsOfLockout: Int? {
        let values = try? properties(from: Property.variable)
        return values.flatMap { TPMProperties($0).dictionaryAttack.secondsToNextTry }
    }

    /// Flushes a transient object or a session, or at least drops it from ESAPI's memory if flushing fails.
    func flush(_ handle: ESYS_TR) {
        var handle = handle
        // Tried twice, because an object that is not flushed takes space from all programs.
        for _ in 0..<2 where !isBroken {
            let code = ResponseCode(raw: Esys_FlushContext(esys, handle))
            // After a TPM restart, the handle may belong to another of our sessions, which was already flushed.
            if code.isSuccess || code.saysUnknownHandle { return }
            if !code.isOfTPM { isBroken = true }
        }
        if isBroken, let leftover = leftover(of: handle) { leftovers.append(leftover) }
        Esys_TR_Close(esys, &handle)
    }

    /// Records an object that the TPM may have loaded even though its handle was never received.
    func noteUnanswered(_ name: TPMName) {
        if isBroken { leftovers.append(Leftover(handle: nil, name: name)) }
    }

    /// Drops ESAPI's entry for a resource that stays in the TPM, which is a persistent object or an NV index.
    func close(_ handle: ESYS_TR) {
        var handle = handle
        Esys_TR_Close(esys, &handle)
    }

    /// Returns the name of an object or index, which ESAPI computes from its copy of the public area.
    func name(of handle: ESYS_TR) throws(TPMError) -> TPMName {
        var name: UnsafeMutablePointer<TPM2B_NAME>?
        try call("Esys_TR_GetName") { Esys_TR_GetName($0, handle, &name) }
        return try CMemory.take(name, of: "Esys_TR_GetName") {
            TPMName(bytes: Sized.bytes($0.pointee.name, $0.pointee.size))
        }
    }
}

/// An object or session that may still be loaded after the connection to the TPM was lost.
struct Leftover: Sendable {
    /// The TPM's handle, or `nil` for an object whose load command got no response.
    let handle: UInt32?
    /// The name of an object, or `nil` for a session.
    let name: TPMName?
}

extension Connection {
    /// Returns the TPM's handle and the name behind an ESAPI handle, without sending a command.
    func leftover(of handle: ESYS_TR) -> Leftover? {
        var number: UInt32 = 0
        guard Esys_TR_GetTpmHandle(esys, handle, &number) == 0 else { return nil }
        return Leftover(handle: number, name: number >> 24 == 0x80 ? try? name(of: handle) : nil)
    }

    /// Flushes resources left loaded by a lost connection, if they are still the same objects.
    ///
    /// Failures are ignored, because a restarted TPM has nothing left to flush.
    ///
    /// The kernel flushes resources when a program closes /dev/tpmrm0. A bare TPM does not.
    func flush(_ leftovers: [Leftover]) {
        for leftover in leftovers where !isBroken {
            switch (leftover.handle, leftover.name) {
            case (let handle?, let name?): flush(handle, ifNamed: name)
            case (nil, let name?):
                let handles = try? TPMCommands(connection: self).handles(.transient)
                for handle in handles ?? [] { flush(handle, ifNamed: name) }
            case (let handle?, nil): flushSession(handle)
            case (nil, nil): break
            }
        }
    }

    private func flush(_ handle: UInt32, ifNamed name: TPMName) {
        try? withPublic(handle) { (object) throws(TPMError) in
            guard try self.name(of: object) == name else { return }
            _ = Esys_FlushContext(esys, object)
        }
    }

    private func flushSession(_ handle: UInt32) {
        var session = Fixed.none
        let code = Esys_TR_FromTPMPublic(esys, handle, Fixed.none, Fixed.none, Fixed.none, &session)
        if code == 0 { flush(session) }
    }
}
