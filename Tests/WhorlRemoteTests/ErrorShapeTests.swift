// SPDX-License-Identifier: Apache-2.0

import Testing
import WhorlFingerprint
import WhorlService

@testable import WhorlIPC
@testable import WhorlRemote

/// The one error of the interfaces, as the service sends it and a program reads it.
@Suite("An error between processes")
struct ErrorShapeTests {
    /// Sends a refusal as a service does, and reads it as a program does.
    private func crossed(_ refusal: ServiceRefusal) throws -> ServiceError {
        let error = #expect(throws: ServiceCallError.self) {
            _ = try ReplyReader.read(Frame(bytes: refusal.message, descriptors: []), as: NoValue.self)
        }
        return ServiceError(try #require(error))
    }

    @Test(arguments: ServiceError.Code.allCases)
    func `with any code of the table comes back equal`(code: ServiceError.Code) throws {
        let plain = ServiceError(code)
        #expect(try crossed(plain.refusal) == plain)
        let values = Dictionary(
            uniqueKeysWithValues: ServiceError.Detail.allCases.map { ($0, "1 “\($0)”\n") }
        )
        let full = ServiceError(
            code,
            "/tmp/a \"b\"",
            message: "M.",
            recovery: "R.",
            cause: "C",
            details: values
        )
        let back = try crossed(full.refusal)
        #expect(back == full && back.code == code && back.category == code.category)
        #expect(back.subject == "/tmp/a \"b\"" && back.details.count == ServiceError.Detail.allCases.count)
    }

    @Test func `has five members, and four where no value belongs to it`() {
        let plain = ServiceError(.userCancel, message: "M.", recovery: "R.")
        let members = #""cause":"","code":"userCancel""#
        let sentences = #""message":"M.","recovery":"R.""#
        let without = #"{"error":"io.whorl.Failed","parameters":{\#(members),\#(sentences)}}"#
        #expect(String(decoding: plain.refusal.message, as: UTF8.self) == without)
        let item = ServiceError(.userCancel, "secret", message: "M.", recovery: "R.")
        let details = #""details":{"subject":"secret"}"#
        let with = #"{"error":"io.whorl.Failed","parameters":{\#(members),\#(details),\#(sentences)}}"#
        #expect(String(decoding: item.refusal.message, as: UTF8.self) == with)
    }

    @Test func `with a code that this version does not know stays that code, with its sentences`() throws {
        let values = ["code": "tooFarAway", "message": "M.", "recovery": "R.", "cause": "C"]
        let error = try crossed(ServiceRefusal(ServiceError.name, values))
        #expect(
            error.code.rawValue == "tooFarAway" && error.code == ServiceError.Code(rawValue: "tooFarAway")
        )
        #expect(error.message == "M." && error.recovery == "R." && error.cause == "C")
        #expect(error.category == .other && error.code.exitStatus == 1)
        #expect(try crossed(error.refusal) == error)
    }

    @Test(arguments: ReaderError.Code.allCases)
    func `of a reader comes back as the same error of a reader`(code: ReaderError.Code) throws {
        let failure = ReaderError(code, operation: "verify", cause: "device says “no”")
        let back = try crossed(ServiceError(crossing: failure).refusal)
        #expect(ReaderError(back) == failure)
        #expect(back.code == ServiceError(failure).code && back.message == failure.message)
    }

    @Test func `of the service is none of the reader that it keeps`() {
        #expect(ReaderError(ServiceError(.appCancel)).code == .cancelled)
        #expect(ReaderError(ServiceError(.serviceUnavailable)).code == .malfunction)
        let refused = ReaderError(ServiceError(.notPermitted, message: "Not here."))
        #expect(refused.code == .permissionDenied && refused.cause == "Not here.")
    }

    @Test func `that refuses the caller or its place says that it is not permitted`() throws {
        for name in ["Confined", "NoAccount", "NotAtReader", "NotProven"] {
            let refusal = ServiceRefusal("io.whorl.Connection.\(name)", ["message": "M.", "recovery": "R."])
            let error = try crossed(refusal)
            #expect(error.code == .notPermitted && error.message == "M." && error.recovery == "R.")
        }
        let root = try crossed(ServiceRefusal(LoginRefused.rootAlone))
        #expect(root.code == .notPermitted && root.recovery.contains("sudo"))
    }

    @Test func `of a service that takes no more says that it is not available`() throws {
        let texts = ["quota": "connections", "message": "M.", "recovery": "R."]
        let error = try crossed(ServiceRefusal("io.whorl.Connection.QuotaReached", texts))
        #expect(error.code == .serviceUnavailable && error.message == "M." && error.recovery == "R.")
    }

    @Test func `whose values cannot be read is still one`() throws {
        for values in [[:], ["code": "ok"], ["message": "M."]] {
            #expect(try crossed(ServiceRefusal(ServiceError.name, values)).code == .serviceUnavailable)
        }
        #expect(try crossed(ServiceRefusal(ServiceError.name, failure: [1, 2])).code == .serviceUnavailable)
    }

    @Test func `of a call without an answer says why there is none`() {
        #expect(ServiceError(.cancelled) == ServiceError(.appCancel))
        for error in [ServiceCallError.connection(nil), .malformed] {
            let unanswered = ServiceError(error)
            #expect(unanswered.code == .serviceUnavailable)
            #expect(unanswered.message.contains("does not respond"))
        }
    }

    @Test func `keeps its reason for a login`() {
        let reasons: [(LoginReason, [ServiceError.Code])] = [
            (
                .notMatched,
                [.authenticationFailed, .passcodeWrong, .passcodeThrottled, .passcodeBusy, .chipLockedOut]
            ),
            (.timedOut, [.timedOut]),
            (.cancelled, [.userCancel, .userFallback, .appCancel]),
            (.noSession, [.notInteractive]),
            (
                .noReader,
                [
                    .biometryNotAvailable, .biometryDisconnected, .readerNotChosen, .readerNotOpen,
                    .readerUnsupported,
                    .readerFull, .readerLockUnusable, .printNotFound, .printRefused, .readerTooHot,
                    .readerUntrustworthy, .readerFailed, .duplicate,
                ]
            ),
            (.lidShut, [.lidShut]),
            (.noFingers, [.biometryNotEnrolled]),
            (
                .notTrusted,
                [.enrollmentTampered, .enrollmentRolledBack, .readerWasOpen, .accountRenamed, .counterLost]
            ),
            (.lockedOut, [.biometryLockout]),
            (.resting, [.placeRests]),
            (.disabled, [.biometryOptedOut]),
            (.busy, [.readerInUse]),
            (.interrupted, [.systemCancel, .changedMeanwhile]),
            (
                .failed,
                [
                    .passcodeNotSet, .invalidContext, .reasonMissing, .storeFailed, .storeBusy,
                    .chipUnavailable,
                    .noChip, .chipBusy,
                ]
            ),
        ]
        for (reason, codes) in reasons {
            for code in codes { #expect(LoginReason(ServiceError(code)) == reason, "\(code.rawValue)") }
        }
    }
}
