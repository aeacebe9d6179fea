// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
internal import KeychainServices
internal import WhorlSecretMemory
internal import WhorlService

/// The kind of biometry that a machine supports.
public enum LABiometryType: Int, Sendable, Hashable {
    /// No reader is connected.
    case none = 0
    /// A fingerprint reader.
    case touchID = 1
    /// Face recognition. Whorl never returns this value.
    case faceID = 2
    /// Iris recognition. Whorl never returns this value.
    case opticID = 4

    /// The original name of ``none``.
    public static var LABiometryNone: LABiometryType { .none }
}

/// The raw value of ``LABiometryType/none``.
public let kLABiometryTypeNone: Int32 = 0
/// The raw value of ``LABiometryType/touchID``.
public let kLABiometryTypeTouchID: Int32 = 1
/// The raw value of ``LABiometryType/faceID``.
public let kLABiometryTypeFaceID: Int32 = 2
/// The raw value of ``LABiometryType/opticID``.
public let kLABiometryTypeOpticID: Int32 = 4

/// The kind of paired device that can confirm the owner's presence.
///
/// Linux machines never have paired devices.
public enum LACompanionType: Int, Sendable, Hashable {
    /// No device.
    case none = 0
    /// A watch.
    case watch = 1
    /// A Mac.
    case mac = 2
    /// An Apple Vision headset.
    case vision = 4
}

/// The raw value of ``LACompanionType/none``.
public let kLACompanionTypeNone: Int32 = 0
/// The raw value of ``LACompanionType/watch``.
public let kLACompanionTypeWatch: Int32 = 1
/// The raw value of ``LACompanionType/mac``.
public let kLACompanionTypeMac: Int32 = 2
/// The raw value of ``LACompanionType/vision``.
public let kLACompanionTypeVision: Int32 = 4

/// The type of credential that a program supplies instead of prompting for it.
public enum LACredentialType: Int, Sendable, Hashable {
    /// A password that the program supplies, for items whose access control includes `applicationPassword`.
    case applicationPassword = 0
    /// The PIN of a smart card.
    ///
    /// The PIN is stored and reported like any other credential, but it is not used, because Whorl does not support
    /// smart cards.
    case smartCardPIN = -3
}

/// The raw value of ``LACredentialType/applicationPassword``.
public let kLACredentialTypeApplicationPassword: Int32 = 0
/// The raw value of ``LACredentialType/smartCardPIN``; the spelling is Apple's.
public let kLACredentialSmartCardPIN: Int32 = -3

extension LACredentialType {
    var kind: CredentialKind {
        switch self {
        case .applicationPassword: .applicationPassword
        case .smartCardPIN: .smartCardPIN
        }
    }
}

extension SecretBox {
    /// Creates a copy of the bytes in locked memory.
    ///
    /// The caller's copy does not change.
    convenience init(copying data: Data) {
        self.init(SecretBytes(count: data.count) { _ = data.copyBytes(to: $0) })
    }
}

/// An operation that a program intends to perform on a protected item or key.
public enum LAAccessControlOperation: Int, Sendable, Hashable {
    /// Creating an item, which does not prompt.
    case createItem = 0
    /// Reading an item.
    case useItem = 1
    /// Creating a key, which does not prompt.
    case createKey = 2
    /// Signing with a key.
    case useKeySign = 3
    /// Decrypting with a key.
    case useKeyDecrypt = 4
    /// A key exchange.
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
                    message: "The access control requires a companion device, but no device is paired.",
                    recovery: "Combine it with another constraint using `.or`.",
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
