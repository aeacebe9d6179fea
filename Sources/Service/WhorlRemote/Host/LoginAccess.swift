// SPDX-License-Identifier: Apache-2.0

package import WhorlService

/// The parts of a system-wide service that logins use.
package struct LoginAccess: Sendable {
    /// The only user ID that may make requests.
    let asker: UInt32
    /// Returns the service that handles a user's requests.
    let owner: @Sendable (UInt32) throws(ServiceError) -> any ServiceAsker
    /// Enrolls another program's prints for a user.
    let takeOver: TakeOver
    /// Enrolls the first finger of a user for an operator.
    let enroll: Enroll
    /// Deletes everything that is stored for a user who consents.
    let forget: Forget
    /// Returns the reason why a user cannot be prompted for a touch, if it is known immediately and does not depend on
    /// the caller.
    let obstacle: Obstacle
    /// Returns a user's keyring; `nil` if logins do not unlock a keyring.
    let keyring: @Sendable (UInt32) throws(ServiceError) -> (any LoginKeyring)?
    /// The counter of failed attempts of all logins on this machine; `nil` if they are not counted.
    let place: (any PlaceTries)?
    /// Ends the lockout of a user's fingers, and returns whether they were locked out.
    let unlock: Unlock
    /// Identifies which of several users is touching the reader.
    let identify: Identify
    /// The accounts whose state the service stores; `nil` to report none.
    let accounts: (any AccountKeeper)?

    /// Returns the reason why the user with an ID cannot be prompted for a touch; `nil` if the user can be.
    package typealias Obstacle = @Sendable (UInt32) async -> ServiceError?

    /// Ends the lockout of the fingers of the user with an ID, for a program that the administrator has authorized.
    package typealias Unlock = @Sendable (UInt32, Asker?) async throws(ServiceError) -> Bool

    /// Identifies which of the users with these IDs is touching the reader.
    package typealias Identify =
        @Sendable ([UInt32], EvaluationRequest, any PromptPresenter) async throws(ServiceError)
        -> IdentifiedPerson

    /// Enrolls the first finger of the user that the operation names, whom the system's rules allow the caller to enroll.
    package typealias Enroll =
        @Sendable (EnrollFingerFor, @escaping @Sendable (EnrollmentProgress) -> Void)
        async throws(ServiceError)
        -> EnrolledFinger

    /// Prompts the user with an ID, and deletes everything that is stored for this user.
    package typealias Forget =
        @Sendable (UInt32, ConsentRequest, any PromptPresenter) async throws(ServiceError) -> Void

    /// Enrolls another program's prints for the user with an ID; a dry run does not change anything.
    package typealias TakeOver =
        @Sendable (UInt32, [ForeignPrint], _ isTrial: Bool, _ readersWereClosed: Bool)
        async throws(ServiceError) -> [ImportOutcome]

    /// Creates the description of what logins use.
    ///
    /// - Parameters:
    ///   - asker: The only user ID that may make requests; tests pass their own user ID.
    ///   - owner: Returns the service that handles the requests of the user with an ID.
    ///   - obstacle: Returns the reason why the user with an ID cannot be prompted for a touch, if it is known
    ///     immediately.
    ///   - keyring: Returns the keyring of the user with an ID; by default, there is no keyring.
    ///   - place: The counter of failed attempts of all logins on this machine; `nil` if they are not counted.
    ///   - unlock: Ends the lockout of the fingers of the user with an ID; by default, no fingers are locked out.
    ///   - identify: Identifies which of several users is touching the reader; by default, identifying fails.
    ///   - enroll: Enrolls the first finger of a user for an operator; by default, this fails.
    ///   - forget: Deletes everything that is stored for a user; by default, this fails.
    ///   - takeOver: Enrolls prints for the user with an ID; by default, no prints are imported.
    ///   - accounts: The accounts whose state the service stores; by default, there are none.
    package init(
        asker: UInt32 = 0,
        owner: @escaping @Sendable (UInt32) throws(ServiceError) -> any ServiceAsker,
        obstacle: @escaping Obstacle,
        keyring: @escaping @Sendable (UInt32) throws(ServiceError) -> (any LoginKeyring)? = { _ in nil },
        place: (any PlaceTries)?,
        unlock: @escaping Unlock = { _, _ in false },
        identify: @escaping Identify = { _, _, _ throws(ServiceError) in
            throw ServiceError(.biometryNotAvailable, cause: "this service does not identify users")
        },
        enroll: @escaping Enroll = { _, _ throws(ServiceError) in
            throw ServiceError(.notPermitted, cause: "this service enrolls its own user only")
        },
        forget: @escaping Forget = { _, _, _ throws(ServiceError) in
            throw ServiceError(.notPermitted, cause: "this service does not delete the directory")
        },
        takeOver: @escaping TakeOver = { _, prints, _, _ in prints.map { _ in .elsewhere } },
        accounts: (any AccountKeeper)? = nil
    ) {
        self.asker = asker
        self.owner = owner
        self.obstacle = obstacle
        self.keyring = keyring
        self.place = place
        self.unlock = unlock
        self.identify = identify
        self.enroll = enroll
        self.forget = forget
        self.takeOver = takeOver
        self.accounts = accounts
    }
}
