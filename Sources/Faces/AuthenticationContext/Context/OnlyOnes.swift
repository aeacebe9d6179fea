// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Objects of the faces of which there is one in each surroundings, such as `LAEnvironment.currentUser`.
package final class OnlyOnes: Sendable {
    private let objects = Mutex<[ObjectIdentifier: any AnyObject & Sendable]>([:])

    /// The one of its type, made at the first question.
    ///
    /// It must not keep its surroundings, which keep it.
    package func one<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
        objects.withLock { objects in
            if let object = objects[ObjectIdentifier(Object.self)] as? Object { return object }
            let made = make()
            objects[ObjectIdentifier(Object.self)] = made
            return made
        }
    }
}
