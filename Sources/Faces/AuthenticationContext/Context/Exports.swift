// SPDX-License-Identifier: Apache-2.0

// On Apple's systems each of the modules above this one brings Foundation along, and programs rely on it.
@_exported public import Foundation

/// Where an error is put, as in `var error: NSError?` and `&error`.
///
/// Apple's Foundation has this name; the one for Linux does not.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

/// The longest time that `LAContext.touchIDAuthenticationAllowableReuseDuration` stands for: 300 seconds.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300
