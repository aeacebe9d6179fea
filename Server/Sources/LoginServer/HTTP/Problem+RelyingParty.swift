// SPDX-License-Identifier: Apache-2.0

internal import Hummingbird
internal import RelyingParty

extension Problem {
    /// Creates the problem for a relying party's refusal; its cause is only for the log.
    init(_ error: RelyingPartyError) {
        switch error.code {
        case .tooManyTries(let seconds):
            self = .tooManyRequests(retryAfter: seconds)
            return
        case .malformed: code = .malformed
        case .challengeUnknown: code = .challengeUnknown
        case .assertionRefused, .rawRefused: code = .assertionRefused
        case .attestationRefused(.malformed): code = .malformed
        case .attestationRefused: code = .attestationRefused
        case .attestationRequired: code = .attestationRequired
        case .unknownKey: code = .unknownKey
        case .keyInUse: code = .keyInUse
        case .reenableRequired: code = .reenableRequired
        case .tooManyDevices: code = .tooManyDevices
        case .store: code = .unavailable
        case .authorizationRevoked:
            self = LoginService.invalidToken
            return
        }
        detail = "\(error.message) \(error.remedy)"
    }

    /// Returns the problem for an error of a route, with the cause for the log.
    ///
    /// - Throws: The HTTP parser's errors, for which Hummingbird responds and closes the connection.
    static func answer(to error: any Error) -> (problem: Problem, cause: String?) {
        switch error {
        case let problem as Problem: (problem, nil)
        case let error as RelyingPartyError:
            (Problem(error), error.code == .store ? error.cause : nil)
        case let error as ServerError:
            (Problem(.unavailable, "The server is unavailable; see its log."), error.message)
        case let error as any HTTPResponseError:
            (Problem(httpStatus: error.status.code), nil)
        default:
            (Problem(.internal, "Internal error; see the server's log."), "\(type(of: error))")
        }
    }

    /// Creates the problem for a request that Hummingbird itself refuses.
    private init(httpStatus: Int) {
        switch httpStatus {
        case 404: self = .notFound
        case 405: self.init(.methodNotAllowed, "Method not allowed.")
        case 413: self.init(.tooLarge, "The body is larger than \(RequestMembers.largestBody) bytes.")
        case 415: self.init(.unsupportedMediaType, "The body must be application/json.")
        case 400..<500: self.init(.malformed, "Malformed request.")
        default: self.init(.internal, "Internal error.")
        }
    }
}
