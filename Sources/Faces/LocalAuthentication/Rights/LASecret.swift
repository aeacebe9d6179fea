// SPDX-License-Identifier: Apache-2.0

/// The secret that a right was saved with.
///
/// It retains its right, and so the authorization.
public final class LASecret: NSObject, Sendable {
    private let right: LAPersistedRight

    init(of right: LAPersistedRight) {
        self.right = right
        super.init()
    }

    /// The bytes of the secret; the right must be authorized, and reading them never prompts.
    ///
    /// They are in ordinary memory, as with Apple.
    ///
    /// - Throws: ``LAError/notInteractive`` unless the right is authorized, ``LAError/appCancel`` if the authorization
    ///   is revoked during the operation; otherwise a status of `NSOSStatusErrorDomain`: `errSecItemNotFound` if the
    ///   right has no secret, or no longer exists; another one if the chip or the store refused.
    public var rawData: Data {
        get async throws { try await RightWork.run { try self.right.openSecret() } }
    }

    /// The same with a completion, which is called once, on a private thread.
    public func loadData(completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        RightWork.start({ try self.right.openSecret() }, completion: completion)
    }
}
