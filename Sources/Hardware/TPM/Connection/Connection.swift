// SPDX-License-Identifier: Apache-2.0

internal import CTSS2
internal import Glibc

/// Owns one ESYS context and the TCTI below it, and makes every call on them.
///
/// It lives on the TPM's thread and never leaves it: not `Sendable`, and `TPMDevice` alone holds it.
final class Connection {
    let address: TPMAddress
    /// The ESYS context (`Esys_Finalize`), above ``tcti`` (`Tss2_TctiLdr_Finalize`), which must outlive it.
    let esys: OpaquePointer
    private let tcti: OpaquePointer
    /// What stays loaded between sequences.
    let cache = SlotCache()
    var pins = Pins()
    /// The line to the TPM failed, or what it says is not believed: nothing can be flushed over it any more.
    private(set) var isBroken = false
    /// The TPM itself has answered a command.
    private(set) var hasAnswered = false
    /// How long objects may be kept without letting others in, where no resource manager does.
    let turn: Duration
    /// When this program began to keep objects loaded.
    var turnStarted = ContinuousClock.now
    /// What could not be flushed since.
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
        // Never NULL: with NULL the loader goes searching, down to a TCP port.
        let code = ResponseCode(raw: Tss2_TctiLdr_Initialize(address.text, &tcti))
        guard code.isSuccess, let tcti else {
            throw DeviceNode.explain(TPMError(code, command: "Tss2_TctiLdr_Initialize"), at: address)
        }
        return tcti
    }

    // MARK: Calls

    /// How long to wait before each further try when the TPM asks for one, in milliseconds; 2.5 s in all.
    ///
    /// ESAPI itself sends a command again five times, at once, for RETRY, YIELDED and TESTING; not for NV_RATE.
    static let pauses: [UInt32] = [5, 10, 20, 40, 80, 160, 320, 640, 1280]

    /// Makes one ESAPI call, and makes it again where the TPM asks for that.
    ///
    /// - Parameters:
    ///   - command: The TPM's name for it, for errors.
    ///   - body: Makes the call. Out-pointers are set only when it succeeds.
    /// - Throws: What the TPM or tpm2-tss answered.
    func call(_ command: String, _ body: (OpaquePointer) -> TSS2_RC) throws(TPMError) {
        var pauses = Self.pauses[...]
        var triesForRoom = 0
        var mayStart = true
        while true {
            guard !isBroken else {
                throw TPMError(.connectionLost, command: command, cause: "it broke before")
            }
            let code = ResponseCode(raw: body(esys))
            // tpm2-tss's own functions, such as `Esys_TR_Deserialize()`, ask nobody.
            if code.isOfTPM, command.hasPrefix("TPM2_") { hasAnswered = true }
            if code.isSuccess { return }
            // After an answer that it does not accept, ESAPI takes no further command either.
            if !code.isOfTPM { isBroken = true }
            if code.asksForRetry, let pause = pauses.popFirst() {
                usleep(pause * 1000)
            } else if code.asksForRoom, triesForRoom < (address.flushesAtClose ? 1 : Sharing.tries) {
                // Another program holds slots. What we keep for speed alone may go.
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

    /// How long the TPM stays locked, as it tells at once; it tells the longest, not what is left.
    private var secondsOfLockout: Int? {
        let values = try? properties(from: Property.variable)
        return values.flatMap { TPMProperties($0).dictionaryAttack.secondsToNextTry }
    }

    /// Flushes a transient object or a session; what cannot be flushed is dropped from ESAPI's memory at least.
    func flush(_ handle: ESYS_TR) {
        var handle = handle
        // A second try, as a flush that does not happen fills the TPM for everybody.
        for _ in 0..<2 where !isBroken {
            let code = ResponseCode(raw: Esys_FlushContext(esys, handle))
            // After a restart of the chip its number was another session's of ours, and is flushed already.
            if code.isSuccess || code.saysUnknownHandle { return }
            if !code.isOfTPM { isBroken = true }
        }
        if isBroken, let leftover = leftover(of: handle) { leftovers.append(leftover) }
        Esys_TR_Close(esys, &handle)
    }

    /// Remembers an object that the TPM may have loaded without our learning its handle.
    func noteUnanswered(_ name: TPMName) {
        if isBroken { leftovers.append(Leftover(handle: nil, name: name)) }
    }

    /// Lets go of an entry of ESAPI's memory for something that stays in the TPM: a persistent object, an NV index.
    func close(_ handle: ESYS_TR) {
        var handle = handle
        Esys_TR_Close(esys, &handle)
    }

    /// The name of an object or index: for objects and indices computed by ESAPI from the public area it holds.
    func name(of handle: ESYS_TR) throws(TPMError) -> TPMName {
        var name: UnsafeMutablePointer<TPM2B_NAME>?
        try call("Esys_TR_GetName") { Esys_TR_GetName($0, handle, &name) }
        return try CMemory.take(name, of: "Esys_TR_GetName") {
            TPMName(bytes: Sized.bytes($0.pointee.name, $0.pointee.size))
        }
    }
}
