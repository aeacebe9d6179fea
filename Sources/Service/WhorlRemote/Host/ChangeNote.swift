// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlIPC
import WhorlService

/// The calls that change something stored: the journal and the owner's log have each.
enum ChangeNote {
    /// The change as the end of a sentence, and the outcome in the owner's log.
    struct Text: Sendable {
        let spoken: String
        let outcome: String
        /// Whether the call writes its own lines about success, so that only the journal needs one here.
        var isLogged = false

        init(_ spoken: String, _ outcome: String, isLogged: Bool = false) {
            self.spoken = spoken
            self.outcome = outcome
            self.isLogged = isLogged
        }
    }

    /// The texts by the methods' names; `Tests` compare them with the methods that are no mere questions.
    static let texts: [String: Text] = [
        ItemInterface.make.name: Text("seal an item", "itemMade"),
        ItemInterface.makeAttested.name: Text("make an attested key", "itemMade"),
        ItemInterface.chipIdentity.name: Text("read the TPM's identity", "identityRead"),
        ItemInterface.prepare.name: Text("prepare the vault", "itemPrepared"),
        ItemInterface.add.name: Text("add an item", "itemAdded"),
        ItemInterface.delete.name: Text("delete an item", "itemDeleted"),
        KeychainInterface.add.name: Text("add keychain items", "rowsAdded"),
        KeychainInterface.update.name: Text("change keychain items", "rowsChanged"),
        KeychainInterface.delete.name: Text("delete keychain items", "rowsDeleted"),
        FingerInterface.enroll.name: Text("enroll a finger", "fingerEnrolled"),
        FingerInterface.remove.name: Text("remove fingers", "fingersRemoved"),
        FingerInterface.accept.name: Text("accept the fingers", "fingersAccepted"),
        FingerInterface.reconcile.name: Text("compare the reader's prints", "readerReconciled"),
        FingerInterface.exercise.name: Text("test the reader", "readerTested"),
        PasscodeInterface.set.name: Text("set the passcode", "passcodeSet"),
        PasscodeInterface.change.name: Text("change the passcode", "passcodeChanged"),
        PasscodeInterface.remove.name: Text("remove the passcode", "passcodeRemoved"),
        KeyringInterface.turnOn.name: Text("turn the keyring on", "keyringOn"),
        KeyringInterface.turnOff.name: Text("turn the keyring off", "keyringOff"),
        OwnerInterface.setOptedOut.name: Text("allow or deny fingers", "optOut", isLogged: true),
        MaintenanceInterface.provision.name: Text("provision the vault", "vaultProvisioned"),
        MaintenanceInterface.reset.name: Text("reset the vault", "vaultReset"),
        MaintenanceInterface.reseal.name: Text("bind items to the machine's start", "vaultResealed"),
        ReaderInterface.tryOut.name: Text("try a reader out", "readerTried"),
    ]
}

/// A call that says more about its change than the method's name does.
protocol NamedChange {
    /// The thing that is changed, such as `secret "wifi"`.
    var subject: String { get }
}

extension ItemInterface.Adding: NamedChange { var subject: String { id.spoken } }
extension ItemInterface.Deleting: NamedChange { var subject: String { id.spoken } }

extension PasscodeInterface.Removing: NamedChange {
    var subject: String { force ? "the passcode, with all that only it opens" : "the passcode" }
}

extension Prompting: NamedChange where Call: NamedChange {
    var subject: String { call.subject }
}
