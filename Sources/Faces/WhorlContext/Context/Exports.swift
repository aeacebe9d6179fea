// SPDX-License-Identifier: Apache-2.0

// On Apple's systems, each of the modules above this one also exports Foundation, and programs rely on it.
@_exported public import Foundation

/// A pointer through which a function returns an error, as in `var error: NSError?` and `&error`.
///
/// Foundation on Linux does not declare this type.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

/// The maximum value of `LAContext.touchIDAuthenticationAllowableReuseDuration`: 300 seconds.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300
