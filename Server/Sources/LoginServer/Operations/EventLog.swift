// SPDX-License-Identifier: Apache-2.0

internal import LoginAssertion
internal import Logging
internal import RelyingParty

extension RelyingPartyEvent {
    /// Writes the event to the log, with the user and the device: names as received from clients, escaped by JSON.
    func write(to logger: Logger) {
        switch self {
        case .challengeIssued(let user, let device):
            logger.debug("challenge given out", metadata: Self.names(user, device))
        case .enabled(let device):
            logger.info("device enabled", metadata: Self.names(device))
        case .signedIn(let device):
            logger.info("signed in", metadata: Self.names(device))
        case .domainStateChanged(let device):
            logger.notice("signed in with different fingers than when enabled", metadata: Self.names(device))
        case .revoked(let user, let device):
            logger.info("device revoked", metadata: Self.names(user, device))
        case .refused(let error, let user?, let device):
            let names = Self.names(user, device)
            logger.notice("refused", metadata: names.merging(["fault": "\(error.word)"]) { $1 })
        case .refused(_, nil, _):
            // Already in the request's line, and without a user.
            break
        case .purgeFailed(let error):
            logger.error("cannot remove old rows", metadata: ["cause": "\(error)"])
        }
    }

    private static func names(_ device: RegisteredDevice) -> Logger.Metadata {
        names(device.user, device.device).merging(["key": "\(device.keyID)"]) { $1 }
    }

    private static func names(_ user: LoginName, _ device: LoginName?) -> Logger.Metadata {
        var names: Logger.Metadata = ["user": "\(user)"]
        if let device { names["device"] = "\(device)" }
        return names
    }
}
