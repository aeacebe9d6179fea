// SPDX-License-Identifier: Apache-2.0

internal import AuthenticationContext
internal import SecretMemory

/// What a program gives a context, so that nobody is asked for it.
public enum LACredentialType: Int, Sendable, Hashable {
    /// The program's own password, for items whose access control has `applicationPassword`.
    case applicationPassword = 0
    /// The PIN of a smart card.
    ///
    /// It is kept and told of as any other, and used for nothing: Whorl has no smart cards.
    case smartCardPIN = -3
}

/// The raw value of ``LACredentialType/applicationPassword``.
public let kLACredentialTypeApplicationPassword: Int32 = 0
/// The raw value of ``LACredentialType/smartCardPIN``; so Apple spells it.
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
    /// Copies bytes into locked memory; the caller's own copy stays as it is.
    convenience init(copying data: Data) {
        self.init(SecretBytes(count: data.count) { _ = data.copyBytes(to: $0) })
    }
}
