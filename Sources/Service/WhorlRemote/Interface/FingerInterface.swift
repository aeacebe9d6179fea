// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlService

/// The enrolled fingers (``FingerService``).
enum FingerInterface {
    struct Difference: Codable, Sendable {
        let digest: Data
        let application: ApplicationID
    }

    struct Enrolling: Codable, Sendable {
        let finger: NewFinger
        let request: ConsentRequest
    }

    struct Removing: Codable, Sendable {
        let selection: FingerSelection
        let force: Bool
        let request: ConsentRequest
    }

    static let list = ServiceMethod<NoValue, Valued<[EnrolledFinger]>>(repeatable: "io.whorl.Fingers.List")
    static let state = ServiceMethod<Valued<ApplicationID>, Optionally<EnrollmentState>>(
        repeatable: "io.whorl.Fingers.State"
    )
    static let difference = ServiceMethod<Difference, EnrollmentDifference>(
        repeatable: "io.whorl.Fingers.Difference"
    )
    static let enroll = ServiceMethod<Prompting<Enrolling>, Prompted<EnrolledFinger>>(
        "io.whorl.Fingers.Enroll"
    )
    static let remove = ServiceMethod<Prompting<Removing>, Prompted<[EnrolledFinger]>>(
        "io.whorl.Fingers.Remove"
    )
    static let acceptable = ServiceMethod<NoValue, Optionally<[EnrolledFinger]>>(
        repeatable: "io.whorl.Fingers.Acceptable"
    )
    static let accept = ServiceMethod<Prompting<ConsentRequest>, Prompted<Optionally<AcceptedFingers>>>(
        "io.whorl.Fingers.Accept"
    )
    static let reconcile = ServiceMethod<NoValue, Optionally<ReaderReconciliation>>(
        "io.whorl.Fingers.Reconcile"
    )
}
