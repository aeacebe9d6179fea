// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Hummingbird
internal import Logging
internal import LoginAssertion
internal import RelyingParty

/// The state shared by all requests.
struct LoginService: Sendable {
    let relyingParty: RelyingParty
    let documents: any Documents
    let accounts: Accounts
    let tokens: SessionTokens
    let metrics: Metrics
    let passwords: PasswordGate
    let proxies: ProxyPolicy
    let readiness: Readiness
    let proxyWarning = OnceNotice()
    let connections: ConnectionCounter
    let certificate: CertificateFiles?
    /// The token for operators' programs, if any.
    let adminToken: AdminToken?
    let passwordCost: PasswordHash.Cost
    /// Whether metrics are available only to operators, at a separate address.
    let hasOperationsAddress: Bool
    let tokenLifetime: Int
    let logger: Logger
    let clock: @Sendable () -> Date

    /// The current time in seconds since 1970.
    var now: Int { Int(clock().timeIntervalSince1970) }

    func client(_ request: Request, _ context: ServerContext) -> ClientAddress {
        proxies.client(peer: context.peer, headers: request.headers)
    }
}

extension LoginService {
    /// Reads the store and the key file.
    init(
        store: any RelyingPartyStore,
        configuration: LoginServer.Configuration,
        logger: Logger,
        now: @escaping @Sendable () -> Date
    ) async throws {
        try configuration.check()
        let documents = StoreDocuments(store: store)
        let seconds = Int(now().timeIntervalSince1970)
        let proxies = ProxyPolicy(trusted: configuration.trustedProxies.compactMap(AddressRange.init))
        let accounts = Accounts(documents: documents, cost: configuration.passwordCost)
        let party = RelyingParty(
            store: store,
            configuration: configuration.relyingParty,
            endorsements: try configuration.attestationRoots.map { try EndorsementRoots(file: $0) }
                ?? NoEndorsements(),
            events: { $0.write(to: logger) },
            now: now
        )
        self.init(
            relyingParty: party,
            documents: documents,
            accounts: accounts,
            tokens: try await SessionTokens(
                origin: configuration.relyingParty.origin,
                store: TokenKeyStore(
                    documents: documents,
                    sealingKey: try KeyFile.open(configuration.keyFile)
                ),
                at: seconds
            ),
            metrics: Metrics(startedAt: seconds),
            passwords: PasswordGate(
                relyingParty: party,
                accounts: accounts,
                limits: configuration.passwordLimits,
                threads: configuration.passwordThreads
            ),
            proxies: proxies,
            readiness: Readiness(),
            connections: ConnectionCounter(
                most: configuration.connectionsPerAddress,
                isExempt: { proxies.isOwn($0) }
            ),
            certificate: try configuration.certificate.map { try CertificateFiles($0) },
            adminToken: try configuration.adminTokenFile.map { try AdminToken(file: $0) },
            passwordCost: configuration.passwordCost,
            hasOperationsAddress: configuration.operations != nil,
            tokenLifetime: configuration.tokenLifetime,
            logger: logger,
            clock: now
        )
    }
}
