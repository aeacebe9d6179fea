// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlIPC
import WhorlService

/// The enrolled fingers that a service keeps.
struct RemoteFingers: FingerService {
    let client: ServiceClient

    func fingers() async throws(EnrollmentError) -> [EnrolledFinger] {
        try await client.call(FingerInterface.list, NoValue(), failing: EnrollmentError.self).parameters.value
    }

    func state(for application: ApplicationID) async throws(EnrollmentError) -> EnrollmentState? {
        try await client.call(FingerInterface.state, .init(application), failing: EnrollmentError.self)
            .parameters.value
    }

    func difference(
        since digest: Data,
        for application: ApplicationID
    ) async throws(EnrollmentError) -> EnrollmentDifference {
        try await client.call(
            FingerInterface.difference,
            .init(digest: digest, application: application),
            failing: EnrollmentError.self
        ).parameters
    }

    func enroll(
        _ finger: NewFinger,
        _ request: ConsentRequest,
        presenter: any PromptPresenter,
        observer: @escaping @Sendable (EnrollmentProgress) -> Void
    ) async throws(FingerChangeError) -> EnrolledFinger {
        try await client.callPrompting(
            FingerInterface.enroll,
            .init(finger: finger, request: request),
            presenter: presenter,
            failing: FingerChangeError.self,
            onProgress: observer
        ).parameters
    }

    func remove(
        _ selection: FingerSelection,
        force: Bool,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(FingerChangeError) -> [EnrolledFinger] {
        try await client.callPrompting(
            FingerInterface.remove,
            .init(selection: selection, force: force, request: request),
            presenter: presenter,
            failing: FingerChangeError.self
        ).parameters
    }

    func acceptable() async throws(EnrollmentError) -> [EnrolledFinger]? {
        try await client.call(FingerInterface.acceptable, NoValue(), failing: EnrollmentError.self)
            .parameters.value
    }

    func accept(
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(FingerChangeError) -> AcceptedFingers? {
        try await client.callPrompting(
            FingerInterface.accept,
            request,
            presenter: presenter,
            failing: FingerChangeError.self
        ).parameters.value
    }

    func reconcile() async throws(FingerChangeError) -> ReaderReconciliation? {
        try await client.call(FingerInterface.reconcile, NoValue(), failing: FingerChangeError.self)
            .parameters.value
    }

    func exercise(
        _ exercise: ReaderExercise,
        _ request: ConsentRequest,
        presenter: any PromptPresenter,
        observer: @escaping @Sendable (EnrollmentProgress) -> Void
    ) async throws(FingerChangeError) -> [ReaderExercise.StepResult] {
        try await client.callPrompting(
            FingerInterface.exercise,
            .init(exercise: exercise, request: request),
            presenter: presenter,
            failing: FingerChangeError.self,
            onProgress: observer
        ).parameters
    }
}
