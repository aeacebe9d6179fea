// SPDX-License-Identifier: Apache-2.0

/// The services of one profile: everything that a program can ask for.
///
/// Programs hold nothing else. What is behind a service (the state directory, the chip, the reader) is in this process
/// or in another one; no client can tell.
public struct Services: Sendable {
    /// The profile whose fingers and items are meant.
    public let profile: String
    /// The program that asks.
    public let application: ApplicationID
    /// Questions about the owner.
    public let owner: any OwnerService
    /// Items that the chip opens.
    public let items: any ItemService
    /// Items that are stored under a name.
    public let namedItems: any NamedItemService
    /// The rows of the keychain.
    public let keychain: any KeychainRowService
    /// The enrolled fingers.
    public let fingers: any FingerService
    /// The owner's passcode.
    public let passcode: any PasscodeService
    /// The keyring that a login by touch opens.
    public let keyring: any KeyringService
    /// The connected readers.
    public let readers: any ReaderService
    /// The upkeep of the state and its chip.
    public let maintenance: any MaintenanceService

    /// Puts services of one profile together.
    public init(
        profile: String,
        application: ApplicationID,
        owner: any OwnerService,
        items: any ItemService,
        namedItems: any NamedItemService,
        keychain: any KeychainRowService,
        fingers: any FingerService,
        passcode: any PasscodeService,
        keyring: any KeyringService,
        readers: any ReaderService,
        maintenance: any MaintenanceService
    ) {
        self.profile = profile
        self.application = application
        self.owner = owner
        self.items = items
        self.namedItems = namedItems
        self.keychain = keychain
        self.fingers = fingers
        self.passcode = passcode
        self.keyring = keyring
        self.readers = readers
        self.maintenance = maintenance
    }
}
