// SPDX-License-Identifier: Apache-2.0

internal import AuthenticationContext
internal import KeychainServices
internal import WhorlService

/// An operation that a program intends on an item or key that an access control guards.
public enum LAAccessControlOperation: Int, Sendable, Hashable {
    /// An item is made; this needs no prompt.
    case createItem = 0
    /// An item is read.
    case useItem = 1
    /// A key is made; this needs no prompt.
    case createKey = 2
    /// A key signs.
    case useKeySign = 3
    /// A key decrypts.
    case useKeyDecrypt = 4
    /// A key agrees on a shared secret.
    case useKeyKeyExchange = 5
}

/// The raw value of ``LAAccessControlOperation/createItem``.
public let kLAAccessControlOperationCreateItem: Int32 = 0
/// The raw value of ``LAAccessControlOperation/useItem``.
public let kLAAccessControlOperationUseItem: Int32 = 1
/// The raw value of ``LAAccessControlOperation/createKey``.
public let kLAAccessControlOperationCreateKey: Int32 = 2
/// The raw value of ``LAAccessControlOperation/useKeySign``.
public let kLAAccessControlOperationUseKeySign: Int32 = 3
/// The raw value of ``LAAccessControlOperation/useKeyDecrypt``.
public let kLAAccessControlOperationUseKeyDecrypt: Int32 = 4
/// The raw value of ``LAAccessControlOperation/useKeyKeyExchange``.
public let kLAAccessControlOperationUseKeyKeyExchange: Int32 = 5

extension LAAccessControlOperation {
    /// Returns the requirement that the owner must meet before the operation.
    func demand(_ accessControl: SecAccessControl) -> EvaluationDemand {
        let access: AccessControl
        do {
            access = try accessControl.vaultAccess()
        } catch {
            return .impossible(
                LAError(
                    .companionNotAvailable,
                    message: "The access control asks for a companion device, and none is paired.",
                    recovery: "Join the companion with another constraint: `.or`.",
                    underlying: error
                )
            )
        }
        return switch self {
        case .createItem, .createKey: .making(access)
        case .useItem, .useKeySign, .useKeyDecrypt, .useKeyKeyExchange: .access(access)
        }
    }
}
