// SPDX-License-Identifier: Apache-2.0

internal import CTSS2

/// A response code, decoded as in TPM 2.0 Library Part 2, 6.6.
struct ResponseCode {
    let raw: UInt32

    /// Whether the code is success, of any layer.
    var isSuccess: Bool { raw == 0 }

    /// The layer that made the code: 0 is the TPM, others are parts of tpm2-tss.
    private var layer: UInt32 { raw >> 16 & 0xff }

    /// Whether the code comes from the TPM itself, directly or through a resource manager that passes codes on.
    var isOfTPM: Bool { layer == 0 || layer == 12 }

    /// Whether the connection to the TPM failed.
    var isOfTransport: Bool { layer == 10 }

    /// The code of the TPM without the number of the handle, session or parameter.
    private var kind: UInt32 {
        let code = raw & 0xfff
        return code & RC.formatOne != 0 ? code & 0x0bf : code
    }

    /// The part of the command that is at fault, if the code carries it.
    enum Culprit: Equatable { case handle(Int), session(Int), parameter(Int), unknown }

    var culprit: Culprit {
        let code = raw & 0xfff
        guard isOfTPM, code & RC.formatOne != 0 else { return .unknown }
        let number = Int(code >> 8 & 0xf)
        if code & RC.parameter != 0 { return .parameter(number) }
        return number >= 8 ? .session(number - 8) : .handle(number)
    }

    /// Whether the TPM asks for the same command again, later.
    var asksForRetry: Bool {
        isOfTPM
            && [RC.retry, RC.yielded, RC.testing, RC.nvRate, RC.nvUnavailable]
                .contains(kind)
    }

    /// Whether the TPM has no slot for another object or session.
    var asksForRoom: Bool {
        isOfTPM
            && [
                RC.objectMemory, RC.sessionMemory, RC.memory, RC.sessionHandles,
                RC.objectHandles, RC.contextGap, RC.tooManyContexts,
            ].contains(kind)
    }

    /// Whether a simulator was switched on but not started; the kernel starts a chip.
    var asksForStartup: Bool { isOfTPM && kind == RC.initialize }

    /// Whether a loaded handle has disappeared.
    var isStale: Bool {
        isOfTPM && (RC.referenceH0...RC.referenceS6).contains(kind)
    }

    /// Whether ESAPI does not know the handle; no command was sent then.
    var saysUnknownHandle: Bool { !isOfTPM && raw & 0xffff == TSS2_BASE_RC_BAD_TR }

    /// The kind of failure; the caller of a command may replace it by a more exact one (``TPMError/told(as:)``).
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

    /// TSS2_SYS_RC_BAD_SEQUENCE of `Tss2_Sys_GetRspAuths()`.
    private static let unauthorizedResponse: UInt32 = 8 << 16 | TSS2_BASE_RC_BAD_SEQUENCE

    /// The kind of failure for codes that tpm2-tss makes itself.
    private var codeOfLibrary: TPMError.Code {
        // The response's HMAC is wrong, so the sender does not know the session's key; or it is not a response at all;
        // or the response has no authorization although the command had one, which SAPI reports as a wrong order.
        if raw == Self.unauthorizedResponse { return .alteredAnswer }
        let unbelievable: Set<UInt32> = [
            TSS2_BASE_RC_RSP_AUTH_FAILED, TSS2_BASE_RC_MALFORMED_RESPONSE, TSS2_BASE_RC_INSUFFICIENT_RESPONSE,
        ]
        return unbelievable.contains(raw & 0xffff) ? .alteredAnswer : .other
    }

    /// The text of tss2-rc: `Tss2_RC_Decode()` returns static or thread-local text (transfer none).
    var words: String { Tss2_RC_Decode(raw).map { String(cString: $0) } ?? "" }
}

extension TPMError {
    /// Makes the error for a response code.
    init(_ code: ResponseCode, command: String) {
        self.init(code.code, command: command, responseCode: code.raw, cause: code.words)
    }

    /// The part of the command that was at fault, if the TPM reported it.
    var culprit: ResponseCode.Culprit {
        responseCode.map { ResponseCode(raw: $0).culprit } ?? .unknown
    }

    /// Whether the TPM says that a handle of the command does not exist: `TPM_RC_HANDLE`, or `TPM_RC_VALUE` of a
    /// handle.
    var saysMissingHandle: Bool {
        guard let responseCode, case .handle = culprit else { return false }
        let kind = responseCode & 0x0bf
        return kind == RC.handle || kind == RC.value
    }
}
