// SPDX-License-Identifier: Apache-2.0

// Apple's name for the keychain's module; `import LocalAuthentication` brings the same names without it.
@_exported public import KeychainServices
