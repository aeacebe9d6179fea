// SPDX-License-Identifier: Apache-2.0

// Apple's name for swift-crypto's module and the TPM keys.
@_exported public import Crypto
@_exported public import SecureEnclaveKeys
