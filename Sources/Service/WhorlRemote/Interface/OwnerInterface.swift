// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlService

/// Questions about the owner (``OwnerService``).
enum OwnerInterface {
    struct Question: Codable, Sendable {
        let policy: Policy
        let application: ApplicationID
    }

    struct Asking: Codable, Sendable {
        let request: EvaluationRequest
        /// The id of a session that ``session`` began.
        let session: String?
    }

    struct OptOut: Codable, Sendable {
        let application: ApplicationID
        let isOptedOut: Bool
        let request: ConsentRequest
    }

    static let preflight = ServiceMethod<Question, Preflight>(
        repeatable: "io.whorl.Owner.Preflight",
        by: .anyProgram
    )
    static let evaluate = ServiceMethod<Prompting<Asking>, Prompted<Evaluation>>(
        "io.whorl.Owner.Evaluate",
        by: .anyProgram
    )
    static let isOptedOut = ServiceMethod<Valued<ApplicationID>, Valued<Bool>>(
        repeatable: "io.whorl.Owner.IsOptedOut",
        by: .anyProgram
    )
    static let setOptedOut = ServiceMethod<Prompting<OptOut>, Prompted<Valued<Bool>>>(
        "io.whorl.Owner.SetOptedOut",
        by: .anyProgram
    )
    /// Begins a session, whose id is the first update; it lasts until the caller hangs up, and has no reply before.
    static let session = ServiceMethod<NoValue, Valued<String>>("io.whorl.Owner.Session", by: .anyProgram)
}

/// Parameters or a reply without a member.
struct NoValue: Codable, Sendable {}

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

    struct Exercising: Codable, Sendable {
        let exercise: ReaderExercise
        let request: ConsentRequest
    }

    static let list = ServiceMethod<NoValue, Valued<[EnrolledFinger]>>(
        repeatable: "io.whorl.Fingers.List",
        by: .unconfined
    )
    static let state = ServiceMethod<Valued<ApplicationID>, Optionally<EnrollmentState>>(
        repeatable: "io.whorl.Fingers.State",
        by: .unconfined
    )
    static let difference = ServiceMethod<Difference, EnrollmentDifference>(
        repeatable: "io.whorl.Fingers.Difference",
        by: .unconfined
    )
    static let enroll = ServiceMethod<Prompting<Enrolling>, Prompted<EnrolledFinger>>(
        "io.whorl.Fingers.Enroll",
        by: .unconfined
    )
    static let remove = ServiceMethod<Prompting<Removing>, Prompted<[EnrolledFinger]>>(
        "io.whorl.Fingers.Remove",
        by: .unconfined
    )
    static let acceptable = ServiceMethod<NoValue, Optionally<[EnrolledFinger]>>(
        repeatable: "io.whorl.Fingers.Acceptable",
        by: .unconfined
    )
    static let accept = ServiceMethod<Prompting<ConsentRequest>, Prompted<Optionally<AcceptedFingers>>>(
        "io.whorl.Fingers.Accept",
        by: .unconfined
    )
    static let reconcile = ServiceMethod<NoValue, Optionally<ReaderReconciliation>>(
        "io.whorl.Fingers.Reconcile",
        by: .unconfinedAtReader
    )
    static let exercise = ServiceMethod<Prompting<Exercising>, Prompted<[ReaderExercise.StepResult]>>(
        "io.whorl.Fingers.Exercise",
        by: .unconfinedAtReader
    )
}

/// The owner's passcode (``PasscodeService``); passcodes lie beside the calls, at the places that they name.
enum PasscodeInterface {
    struct Asking: Codable, Sendable {
        let request: ConsentRequest
        let session: String?
    }

    struct Setting: Codable, Sendable {
        let passcode: Int
        let request: ConsentRequest
        let session: String?
    }

    struct Changing: Codable, Sendable {
        let new: Int
        let request: ConsentRequest
    }

    struct Removing: Codable, Sendable {
        let force: Bool
        let request: ConsentRequest
    }

    static let isSet = ServiceMethod<NoValue, Valued<Bool>>(
        repeatable: "io.whorl.Passcode.IsSet",
        by: .unconfined
    )
    static let askForFinger = ServiceMethod<Prompting<Asking>, Prompted<NoValue>>(
        "io.whorl.Passcode.AskForFinger",
        by: .unconfined
    )
    static let set = ServiceMethod<Setting, NoValue>("io.whorl.Passcode.Set", by: .unconfined, taking: 1)
    static let change = ServiceMethod<Prompting<Changing>, Prompted<NoValue>>(
        "io.whorl.Passcode.Change",
        by: .unconfined,
        taking: 1
    )
    static let itemsLostWithout = ServiceMethod<NoValue, Valued<[ItemID]>>(
        repeatable: "io.whorl.Passcode.ItemsLostWithout",
        by: .unconfined
    )
    static let remove = ServiceMethod<Prompting<Removing>, Prompted<[ItemID]>>(
        "io.whorl.Passcode.Remove",
        by: .unconfined
    )
}

/// The keyring that a login by touch opens (``KeyringService``).
enum KeyringInterface {
    struct Asking: Codable, Sendable { let request: ConsentRequest }

    static let status = ServiceMethod<NoValue, Valued<KeyringStatus>>(
        repeatable: "io.whorl.Keyring.Status",
        by: .unconfined
    )
    static let turnOn = ServiceMethod<Prompting<Asking>, Prompted<NoValue>>(
        "io.whorl.Keyring.TurnOn",
        by: .unconfined
    )
    static let turnOff = ServiceMethod<Prompting<Asking>, Prompted<NoValue>>(
        "io.whorl.Keyring.TurnOff",
        by: .unconfined
    )
}
