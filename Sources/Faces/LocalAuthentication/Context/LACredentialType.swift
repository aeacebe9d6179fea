// SPDX-License-Identifier: Apache-2.0

internal import AuthenticationContext
internal import SecretMemory

/// The type of a credential that a program gives to a context instead of a prompt.
public enum LACredentialType: Int, Sendable, Hashable {
    /// The program's own password, for items whose access control has `applicationPassword`.
    case applicationPassword = 0
    /// The PIN of a smart card.
    ///
    /// It is kept and reported like any other credential, but not used: Whorl does not support smart cards.
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
    /// Copies bytes into locked memory; the caller's own copy stays unchanged.
    convenience init(copying data: Data) {
        self.init(SecretBytes(count: data.count) { _ = data.copyBytes(to: $0) })
    }
}
