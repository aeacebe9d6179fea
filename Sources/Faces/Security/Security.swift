// SPDX-License-Identifier: Apache-2.0

// Apple's name for the keychain module. `import LocalAuthentication` provides the same names.
@_exported public import KeychainServices
