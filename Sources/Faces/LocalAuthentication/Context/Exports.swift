// SPDX-License-Identifier: Apache-2.0

// On Apple's systems, this import also exports Foundation and the Security names, and programs rely on it.
@_exported public import WhorlContext
@_exported public import Foundation
@_exported public import KeychainServices
