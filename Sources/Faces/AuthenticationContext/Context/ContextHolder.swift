// SPDX-License-Identifier: Apache-2.0

/// An interface to a program's context for other modules: through it, the keychain finds the state of the context that
/// a query holds.
package protocol ContextHolder: AnyObject {
    /// The state of the context and the work on it.
    var core: ContextCore { get }
}
