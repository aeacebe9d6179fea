// SPDX-License-Identifier: Apache-2.0

/// The secret that a right was saved with.
///
/// It keeps its right, and with it the authorization.
public final class LASecret: NSObject, Sendable {
    private let right: LAPersistedRight

    init(of right: LAPersistedRight) {
        self.right = right
        super.init()
    }

    /// The secret, which the right must be authorized for; it prompts for nothing.
    ///
    /// It is ordinary memory, as with Apple.
    ///
    /// - Throws: ``LAError/notInteractive`` unless the right is authorized, ``LAError/appCancel`` when that is taken back
    ///   meanwhile; else a status of `NSOSStatusErrorDomain`: `errSecItemNotFound` where the right has no secret, or is no more;
    ///   another one where the chip or the store refused.
    public var rawData: Data {
        get async throws { try await RightWork.run { try self.right.openSecret() } }
    }

    /// The same with a completion, which is called once, on a private thread.
    public func loadData(completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        RightWork.start({ try self.right.openSecret() }, completion: completion)
    }
}
