// SPDX-License-Identifier: Apache-2.0

internal import Hummingbird
internal import RelyingParty

extension Problem {
    /// Makes the problem of a relying party's refusal; its cause is only for the log.
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

    /// Returns the problem of an error of a route, with the cause that the log may contain.
    ///
    /// - Throws: the HTTP parser's errors, which Hummingbird answers and then closes the connection.
    static func answer(to error: any Error) -> (problem: Problem, cause: String?) {
        switch error {
        case let problem as Problem: (problem, nil)
        case let error as RelyingPartyError:
            (Problem(error), error.code == .store ? error.cause : nil)
        case let error as ServerError:
            (Problem(.unavailable, "The server cannot do its work; its log says why."), error.message)
        case let error as any HTTPResponseError:
            (Problem(httpStatus: error.status.code), nil)
        default:
            (Problem(.internal, "The server failed; its log says why."), "\(type(of: error))")
        }
    }

    /// Makes the problem of a request that Hummingbird itself refuses.
    private init(httpStatus: Int) {
        switch httpStatus {
        case 404: self = .notFound
        case 405: self.init(.methodNotAllowed, "This is not done here.")
        case 413: self.init(.tooLarge, "The body is larger than \(RequestMembers.largestBody) bytes.")
        case 415: self.init(.unsupportedMediaType, "The body must be application/json.")
        case 400..<500: self.init(.malformed, "The request is not one that this server reads.")
        default: self.init(.internal, "The server failed.")
        }
    }
}
