// SPDX-License-Identifier: Apache-2.0

import WhorlEnrollment
import WhorlFingerprint
import Foundation
import WhorlStateStore
import Synchronization
import WhorlService

/// An owner who agrees to whatever a test does, for tests that are not about the owner.
///
/// The consent is made from the present state, as the engine makes it; whoever was slower than another is asked again.
extension EnrollmentStore {
    func agreed(_ change: OwnerConsent.Change, _ profile: String) async throws(ServiceError)
        -> OwnerConsent
    {
        OwnerConsent(to: change, in: try await status(of: profile), by: .passcode)
    }

    @discardableResult
    func add(
        _ template: Template,
        as finger: Finger,
        label: String?,
        profile: String,
        on reader: ReaderInfo,
        at date: Date
    ) async throws(ServiceError) -> EnrolledFinger {
        while true {
            do throws(ServiceError) {
                return try await add(
                    template,
                    as: finger,
                    label: label,
                    profile: profile,
                    on: reader,
                    at: date,
                    consent: try await agreed(.add(finger), profile)
                )
            } catch {
                guard error.code == .changedMeanwhile else { throw error }
            }
        }
    }
}

/// An enroller whose owner agrees.
struct AgreedEnroller: Sendable {
    let enroller: FingerEnroller
    let store: EnrollmentStore

    init(_ store: EnrollmentStore, counter: any TouchCounter = TouchBook(), retryLimit: Int = 20) {
        enroller = FingerEnroller(store: store, counter: counter, retryLimit: retryLimit)
        self.store = store
    }

    func enroll(
        _ finger: Finger,
        label: String? = nil,
        profile: String,
        on reader: any FingerprintReader,
        timeout: Duration = .seconds(60),
        isGuided: Bool = false,
        observer: @escaping @Sendable (EnrollmentProgress) -> Void = { _ in }
    ) async throws(ServiceError) -> EnrolledFinger {
        try await enroller.refuseTaken(finger, profile: profile, on: reader)
        return try await enroller.enroll(
            finger,
            label: label,
            profile: profile,
            on: reader,
            consent: try await store.agreed(.add(finger), profile),
            timeout: timeout,
            isGuided: isGuided,
            observer: observer
        )
    }

    func remove(
        _ selection: FingerSelection,
        profile: String,
        readers: [any FingerprintReader],
        force: Bool = false
    ) async throws(ServiceError) -> [EnrolledFinger] {
        try await enroller.remove(
            selection,
            profile: profile,
            readers: readers,
            force: force,
            consent: try await store.agreed(.remove(selection), profile)
        )
    }

    func reconcile(
        profile: String,
        on reader: any FingerprintReader
    ) async throws(ServiceError) -> ReaderReconciliation {
        try await enroller.reconcile(profile: profile, on: reader)
    }
}

/// Writes down what an enrollment counts; locks after so many touches that did not match.
final class TouchBook: TouchCounter, CountedTouches {
    let seen = Mutex<[String]>([])
    private let limit: Int

    init(limit: Int = 5) { self.limit = limit }

    func begin(
        _ finger: Finger,
        on reader: ReaderInfo,
        within limit: Duration
    ) async throws(ServiceError) -> any CountedTouches { self }

    func reserve() async throws(ServiceError) { try write("reserve") }
    func charge() async throws(ServiceError) { try write("charge") }
    func release() async { seen.withLock { $0.append("release") } }

    private func write(_ word: String) throws(ServiceError) {
        let charges = seen.withLock { seen in
            seen.append(word)
            return seen.count { $0 == "charge" }
        }
        if charges >= limit { throw ServiceError(.biometryLockout) }
    }
}
