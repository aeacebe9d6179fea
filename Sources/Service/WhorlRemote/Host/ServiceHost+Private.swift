// SPDX-License-Identifier: Apache-2.0

package import WhorlFingerprint
import WhorlIPC
package import WhorlService

/// The engine of a private child, for the program that started the child.
package protocol PrivateEngine: Sendable {
    /// Returns the reader with which to capture images, before it is used for the first time.
    func readerOfOwn() async throws(ServiceError) -> any FingerprintReader

    /// Returns the access groups of all programs in the keychain, and the number of rows; blocks the calling thread.
    func keychainGroups() throws(ServiceError) -> (groups: [String], count: Int)
}

extension ServiceHost {
    /// Adds the methods that only a private child provides.
    func addPrivate(_ engine: any PrivateEngine, _ router: inout GuardedRouter) {
        router.on(PrivateInterface.Reader.self) { (_, _) async throws(ServiceRefusal) in
            await (try await refusing(await engine.readerOfOwn())).info
        }
        router.on(PrivateInterface.Capture.self) { (_, call) async throws(ServiceRefusal) in
            let reader = try await refusing(await engine.readerOfOwn())
            let image = try await reading(
                await reader.opened { reader throws(ReaderError) in
                    try await reader.capture(whenBusy: .fail) {
                        call.update(PrivateInterface.CaptureStep($0))
                    }
                }
            )
            return PrivateInterface.CaptureStep(image)
        }
        router.on(PrivateInterface.KeychainGroups.self) { (_, _) async throws(ServiceRefusal) in
            let (groups, count) = try await Self.run(on: Self.calls) { () throws(ServiceRefusal) in
                try refusing(engine.keychainGroups())
            }
            return PrivateInterface.KeychainGroupsReply(groups: groups, count: count)
        }
    }
}
