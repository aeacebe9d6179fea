// SPDX-License-Identifier: Apache-2.0

public import WhorlService
import WhorlSupport

extension Services {
    /// Returns this user's services, as provided by the system service.
    ///
    /// If the service does not respond, each call fails with `serviceUnavailable`; no other place is used instead.
    ///
    /// - Parameter application: The calling program.
    /// - Returns: The services, which connect when they are first used.
    public static func ofSystem(for application: ApplicationID) -> Services {
        .remote(profile: ThisProcess.userName, application: application, over: PathTransport())
    }
}
