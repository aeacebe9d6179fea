// SPDX-License-Identifier: Apache-2.0

/// A request for the owner's consent to a change of the enrolled fingers.
public struct ConsentRequest: Sendable {
    /// The program that asks.
    public var application: ApplicationID
    /// The time limit for each touch, key or verdict.
    public var timeout: Duration
    /// Whether only the passcode is asked for, as by programs that have it already.
    public var passcodeAlone: Bool

    /// The program that asks, as a service knows it; `nil` where it runs in this process or is not known.
    package var asker: Asker?

    /// The reason why the caller's place lets no finger be asked for; `nil` where one may be.
    package var fingerObstacle: AuthenticationError?

    /// Makes a request that takes a finger or the passcode.
    public init(
        application: ApplicationID,
        timeout: Duration = .seconds(60),
        passcodeAlone: Bool = false
    ) {
        self.application = application
        self.timeout = timeout
        self.passcodeAlone = passcodeAlone
    }
}
