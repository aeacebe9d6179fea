// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The objects that exist once in each environment, such as `LAEnvironment.currentUser`.
package final class OnlyOnes: Sendable {
    private let objects = Mutex<[ObjectIdentifier: any AnyObject & Sendable]>([:])

    /// Returns the one object of a type, and makes it at the first call.
    ///
    /// The object must not retain its environment, since the environment retains it.
    package func one<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
        objects.withLock { objects in
            if let object = objects[ObjectIdentifier(Object.self)] as? Object { return object }
            let made = make()
            objects[ObjectIdentifier(Object.self)] = made
            return made
        }
    }
}
