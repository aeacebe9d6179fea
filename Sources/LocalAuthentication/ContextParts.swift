// SPDX-License-Identifier: Apache-2.0

internal import Authentication
internal import WhorlSystem

/// What a context asks, with what prompt, and in whose name.
struct ContextParts: Sendable {
    let service: any AuthenticationService
    let presenter: any PromptPresenter
    let application: ApplicationID

    /// Those of this process, put together when the first context needs them; that opens nothing yet.
    static var system: ContextParts {
        let services = SystemServices.shared
        return ContextParts(
            service: services.authentication,
            presenter: services.presenter,
            application: services.application
        )
    }
}
