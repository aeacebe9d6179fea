// SPDX-License-Identifier: Apache-2.0

/// A program's context, to whoever stands beside the module that names it: the keychain finds the state of the context
/// that a query holds through this.
package protocol ContextHolder: AnyObject {
    /// The state of the context and the work on it.
    var core: ContextCore { get }
}
