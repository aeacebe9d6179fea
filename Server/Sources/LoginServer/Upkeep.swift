// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import RelyingParty
internal import ServiceLifecycle

/// What is done beside the requests, once a minute: keys come and go, old rows are removed.
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

    /// A database that is away for a while is no reason to stop: it is tried again a minute later.
    private func once() async {
        do {
            try await service.tokens.maintain(at: service.now)
            try await service.relyingParty.purge()
        } catch {
            logger.error("upkeep failed, ignoring", metadata: ["cause": "\(error)"])
        }
    }
}
