// SPDX-License-Identifier: Apache-2.0

import WhorlService
import WhorlSupport

extension AuditEntry {
    /// The entry as a sentence in the user's language.
    ///
    /// Events that this version does not know are shown as they are in the log.
    var sentence: String {
        switch (event, outcome) {
        case (.evaluation, "matched"): matched
        case (.evaluation, "reused"): translated("An earlier touch was used.")
        case (.evaluation, "passcode"), (.passcode, "unlocked"): translated("Passcode correct.")
        case (.failedTry, "noMatch"): translated("Not recognized.")
        case (.failedTry, "abandoned"): translated("Interrupted.")
        case (.lockout, "locked"): translated(ServiceError(.biometryLockout).message)
        case (.lockout, "unlocked"): translated("The lockout ended.")
        case (.passcode, "wrong"): translated("Wrong passcode.")
        case (.passcode, "throttled"): translated("Wrong passcode. Wait before you try again.")
        case (.reader, _): translated("The reader returned a result that cannot be correct.")
        case (.release, _): translated("Unlocked: %1$@.", with: DisplayText.clean(detail ?? "?", limit: 60))
        case (.optOut, "in"), (.optOut, "ownIn"): translated("Fingerprints are enabled for this program.")
        case (.optOut, "out"), (.optOut, "ownOut"): translated("Fingerprints are disabled for this program.")
        case (.change, _): Self.changes[outcome].map { translated($0) } ?? other
        default: other
        }
    }

    private var matched: String {
        finger.map { translated("Matched: %1$@.", with: translated($0.spokenName)) } ?? other
    }

    /// The sentences for changes, by their names in the log.
    private static let changes = [
        "fingerEnrolled": "Enrolled.", "fingersRemoved": "Finger deleted.",
        "fingersAccepted": "Fingers accepted.", "fingerLabeled": "Finger renamed.",
        "passcodeSet": "Passcode set.", "passcodeChanged": "Passcode changed.",
        "passcodeRemoved": "Passcode removed.",
        "itemAdded": "Item added.", "itemMade": "Item added.", "itemDeleted": "Item deleted.",
        "rowsAdded": "Keychain items changed.", "rowsChanged": "Keychain items changed.",
        "rowsDeleted": "Keychain items changed.",
        "keyringOn": "Keyring turned on.", "keyringOff": "Keyring turned off.",
        "keyringPasswordMade": "Keyring turned on.", "keyringPasswordDeleted": "Keyring turned off.",
        "readerTested": "Reader tested.", "readerTried": "Reader tested.",
        "readerReconciled": "Reader tested.",
        "itemPrepared": "TPM set up.", "vaultProvisioned": "TPM set up.",
        "vaultResealed": "Items bound to the current boot measurements.", "vaultReset": "All items deleted.",
    ]

    /// An error's sentence, or the entry as it is in the log.
    private var other: String {
        let code = ServiceError.Code(rawValue: outcome)
        guard ServiceError.Code.allCases.contains(code) else {
            return DisplayText.clean("\(event.rawValue): \(outcome)", limit: 100)
        }
        return translated(ServiceError(code).message)
    }
}
