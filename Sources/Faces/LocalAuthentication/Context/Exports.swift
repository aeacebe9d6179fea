// SPDX-License-Identifier: Apache-2.0

// On Apple's systems this one import brings Foundation and the Security names along, and programs rely on it.
@_exported public import AuthenticationContext
@_exported public import Foundation
@_exported public import Keychain
