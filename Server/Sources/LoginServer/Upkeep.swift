// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import RelyingParty
internal import ServiceLifecycle

/// A service that runs once a minute, beside the requests: it adds and drops keys, and removes old rows.
struct Upkeep: Service {
    let service: LoginService
    let logger: Logger
    let interval: Duration

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do { try await Task.sleep(for: interval) } catch { return }
                await once()
            }
        }
    }

    /// Runs the upkeep once; if the database is unreachable, it is tried again a minute later.
    private func once() async {
        do {
            try await service.tokens.maintain(at: service.now)
            try await service.relyingParty.purge()
        } catch {
            logger.error("upkeep failed, ignoring", metadata: ["cause": "\(error)"])
        }
    }
}
