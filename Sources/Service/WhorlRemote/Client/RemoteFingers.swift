// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlIPC
import WhorlService

/// The enrolled fingers that a service keeps.
struct RemoteFingers: FingerService {
    let client: ServiceClient

    func fingers() async throws(ServiceError) -> [EnrolledFinger] {
        try await client.call(FingerInterface.list, NoValue()).parameters.value
    }

    func state(for application: ApplicationID) async throws(ServiceError) -> EnrollmentState? {
        try await client.call(FingerInterface.state, .init(application)).parameters.value
    }

    func difference(
        since digest: Data,
        for application: ApplicationID
    ) async throws(ServiceError) -> EnrollmentDifference {
        try await client.call(
            FingerInterface.difference,
            .init(digest: digest, application: application)
        ).parameters
    }

    func enroll(
        _ finger: NewFinger,
        _ request: ConsentRequest,
        presenter: any PromptPresenter,
        observer: @escaping @Sendable (EnrollmentProgress) -> Void
    ) async throws(ServiceError) -> EnrolledFinger {
        try await client.callPrompting(
            FingerInterface.enroll,
            .init(finger: finger, request: request),
            presenter: presenter,
            onProgress: observer
        ).parameters
    }

    func remove(
        _ selection: FingerSelection,
        force: Bool,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> [EnrolledFinger] {
        try await client.callPrompting(
            FingerInterface.remove,
            .init(selection: selection, force: force, request: request),
            presenter: presenter
        ).parameters
    }

    func acceptable() async throws(ServiceError) -> [EnrolledFinger]? {
        try await client.call(FingerInterface.acceptable, NoValue()).parameters.value
    }

    func accept(
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> AcceptedFingers? {
        try await client.callPrompting(FingerInterface.accept, request, presenter: presenter).parameters.value
    }

    func reconcile() async throws(ServiceError) -> ReaderReconciliation? {
        try await client.call(FingerInterface.reconcile, NoValue()).parameters.value
    }

    func exercise(
        _ exercise: ReaderExercise,
        _ request: ConsentRequest,
        presenter: any PromptPresenter,
        observer: @escaping @Sendable (EnrollmentProgress) -> Void
    ) async throws(ServiceError) -> [ReaderExercise.StepResult] {
        try await client.callPrompting(
            FingerInterface.exercise,
            .init(exercise: exercise, request: request),
            presenter: presenter,
            onProgress: observer
        ).parameters
    }
}
