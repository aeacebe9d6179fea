// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import RelyingParty
internal import ServiceLifecycle

/// A service that runs once a minute: it adds and drops keys, removes old rows, and reloads the certificate.
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
        reloadCertificate()
        do {
            try await service.tokens.maintain(at: service.now)
            try await service.relyingParty.purge()
        } catch {
            service.metrics.countUpkeepFailure()
            logger.error("upkeep failed, ignoring", metadata: ["cause": "\(error)"])
        }
    }

    private func reloadCertificate() {
        guard let certificate = service.certificate else { return }
        do throws(ServerError) {
            guard try certificate.reload() else { return }
            logger.info("now using the new certificate")
        } catch {
            // A renewal may have written only one of the two files so far.
            service.metrics.countUpkeepFailure()
            logger.error(
                "keeping the previous certificate",
                metadata: ["cause": "\(error.message)"]
            )
        }
    }
}
