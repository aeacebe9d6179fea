// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2

/// A response code, decoded as in TPM 2.0 Library Part 2, 6.6.
struct ResponseCode {
    let raw: UInt32

    /// Whether the code means success, at any layer.
    var isSuccess: Bool { raw == 0 }

    /// The layer that produced the code.
    ///
    /// 0 is the TPM, and other layers are parts of tpm2-tss.
    private var layer: UInt32 { raw >> 16 & 0xff }

    /// Whether the code comes from the TPM itself, directly or passed on by a resource manager.
    var isOfTPM: Bool { layer == 0 || layer == 12 }

    /// Whether the connection to the TPM failed.
    var isOfTransport: Bool { layer == 10 }

    /// The TPM's code, without the number of the handle, session or parameter.
    private var kind: UInt32 {
        let code = raw & 0xfff
        return code & RC.formatOne != 0 ? code & 0x0bf : code
    }

    /// The part of the command that caused the error, if the code identifies it.
    enum FaultyPart: Equatable { case handle(Int), session(Int), parameter(Int), unknown }

    var faultyPart: FaultyPart {
        let code = raw & 0xfff
        guard isOfTPM, code & RC.formatOne != 0 else { return .unknown }
        let number = Int(code >> 8 & 0xf)
        if code & RC.parameter != 0 { return .parameter(number) }
        return number >= 8 ? .session(number - 8) : .handle(number)
    }

    /// Whether the TPM requests that the same command be sent again later.
    var asksForRetry: Bool {
        isOfTPM
            && [RC.retry, RC.yielded, RC.testing, RC.nvRate, RC.nvUnavailable]
                .contains(kind)
    }

    /// Whether the TPM has no free slot for an object or session.
    var asksForRoom: Bool {
        isOfTPM
            && [
                RC.objectMemory, RC.sessionMemory, RC.memory, RC.sessionHandles,
                RC.objectHandles, RC.contextGap, RC.tooManyContexts,
            ].contains(kind)
    }

    /// Whether a simulator was powered on but not started.
    ///
    /// The kernel starts hardware TPMs.
    var asksForStartup: Bool { isOfTPM && kind == RC.initialize }

    /// Whether a loaded handle no longer exists.
    var isStale: Bool {
        isOfTPM && (RC.referenceH0...RC.referenceS6).contains(kind)
    }

    /// Whether ESAPI does not know the handle, so that no command was sent.
    var saysUnknownHandle: Bool { !isOfTPM && raw & 0xffff == TSS2_BASE_RC_BAD_TR }

    /// The kind of failure, which the caller of a command may replace with a more specific one
    /// (``TPMError/told(as:)``).
    var code: TPMError.Code {
        if isOfTransport { return .connectionLost }
        guard isOfTPM else { return codeOfLibrary }
        if asksForRetry { return .busy }
        if asksForRoom { return .outOfSlots }
        if isStale { return .reset }
        return switch kind {
        case RC.lockout: .lockout(seconds: nil)
        case RC.authFail, RC.badAuth: .authFailed
        case RC.policyFail, RC.policy, RC.policyCc, RC.pcr, RC.pcrChanged,
            RC.expired, RC.authUnavailable, RC.nvAuthorization:
            .policyFailed
        case RC.nvSpace: .nvSpace
        case RC.nvDefined: .nvDefined
        case RC.nvUninitialized: .nvUnwritten
        case RC.integrity, RC.sensitive, RC.binding: .foreignBlob
        case RC.commandCode, RC.curve, RC.asymmetric, RC.hash, RC.symmetric,
            RC.scheme, RC.hierarchy:
            .unsupported
        case RC.eccPoint, RC.noResult: .pointRefused
        case RC.failure: .failureMode
        default: .other
        }
    }

    /// The code TSS2_SYS_RC_BAD_SEQUENCE, as returned by `Tss2_Sys_GetRspAuths()`.
    private static let unauthorizedResponse: UInt32 = 8 << 16 | TSS2_BASE_RC_BAD_SEQUENCE

    /// The kind of failure for codes from tpm2-tss itself.
    private var codeOfLibrary: TPMError.Code {
        // The response's HMAC is wrong, so the sender does not know the session's key. Or the data is not a response.
        // Or the response has no authorization although the command had one, which SAPI reports as a bad sequence.
        if raw == Self.unauthorizedResponse { return .alteredAnswer }
        let unbelievable: Set<UInt32> = [
            TSS2_BASE_RC_RSP_AUTH_FAILED, TSS2_BASE_RC_MALFORMED_RESPONSE, TSS2_BASE_RC_INSUFFICIENT_RESPONSE,
        ]
        return unbelievable.contains(raw & 0xffff) ? .alteredAnswer : .other
    }

    /// The description from tss2-rc.
    ///
    /// `Tss2_RC_Decode()` returns static or thread-local text (transfer none).
    var words: String { Tss2_RC_Decode(raw).map { String(cString: $0) } ?? "" }
}

extension TPMError {
    init(_ code: ResponseCode, command: String) {
        self.init(code.code, command: command, responseCode: code.raw, cause: code.words)
    }

    /// The part of the command that caused the error, if the TPM reported it.
    var faultyPart: ResponseCode.FaultyPart {
        responseCode.map { ResponseCode(raw: $0).faultyPart } ?? .unknown
    }

    /// Whether the TPM reports that a handle in the command does not exist (`TPM_RC_HANDLE`, or `TPM_RC_VALUE` for a
    /// handle).
    var saysMissingHandle: Bool {
        guard let responseCode, case .handle = faultyPart else { return false }
        let kind = responseCode & 0x0bf
        return kind == RC.handle || kind == RC.value
    }
}

/// The TPM response codes that Whorl distinguishes, without the number of a handle, session or parameter.
///
/// The corresponding C constants are `TPM2_RC_…`, which Swift does not import. Source: TPM 2.0 Library Part 2, 6.6.3.
enum RC {
    static let asymmetric: UInt32 = 0x081
    static let hash: UInt32 = 0x083
    static let value: UInt32 = 0x084
    static let hierarchy: UInt32 = 0x085
    static let handle: UInt32 = 0x08b
    static let authFail: UInt32 = 0x08e
    static let scheme: UInt32 = 0x092
    static let symmetric: UInt32 = 0x096
    static let policyFail: UInt32 = 0x09d
    static let integrity: UInt32 = 0x09f
    static let badAuth: UInt32 = 0x0a2
    static let expired: UInt32 = 0x0a3
    static let policyCc: UInt32 = 0x0a4
    static let binding: UInt32 = 0x0a5
    static let curve: UInt32 = 0x0a6
    static let eccPoint: UInt32 = 0x0a7
    static let initialize: UInt32 = 0x100
    static let failure: UInt32 = 0x101
    static let policy: UInt32 = 0x126
    static let pcr: UInt32 = 0x127
    static let pcrChanged: UInt32 = 0x128
    static let tooManyContexts: UInt32 = 0x12e
    static let authUnavailable: UInt32 = 0x12f
    static let commandCode: UInt32 = 0x143
    static let nvAuthorization: UInt32 = 0x149
    static let nvUninitialized: UInt32 = 0x14a
    static let nvSpace: UInt32 = 0x14b
    static let nvDefined: UInt32 = 0x14c
    static let noResult: UInt32 = 0x154
    static let sensitive: UInt32 = 0x155
    static let contextGap: UInt32 = 0x901
    static let objectMemory: UInt32 = 0x902
    static let sessionMemory: UInt32 = 0x903
    static let memory: UInt32 = 0x904
    static let sessionHandles: UInt32 = 0x905
    static let objectHandles: UInt32 = 0x906
    static let yielded: UInt32 = 0x908
    static let testing: UInt32 = 0x90a
    static let referenceH0: UInt32 = 0x910
    static let referenceS6: UInt32 = 0x91e
    static let nvRate: UInt32 = 0x920
    static let lockout: UInt32 = 0x921
    static let retry: UInt32 = 0x922
    static let nvUnavailable: UInt32 = 0x923

    /// The bit that is set in codes that contain the number of a handle, session or parameter.
    static let formatOne: UInt32 = 0x080
    /// The bit that is set in such codes if the error is in a parameter.
    static let parameter: UInt32 = 0x040
}
