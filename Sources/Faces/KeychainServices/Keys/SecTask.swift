// SPDX-License-Identifier: Apache-2.0

/// A process whose entitlements can be queried.
///
/// Linux programs do not have entitlements.
public final class SecTask: NSObject, Sendable {
    fileprivate override init() { super.init() }
}

/// Returns an object that represents this process.
///
/// - Parameter allocator: Ignored.
/// - Returns: The object, which is never `nil`.
@discardableResult
public func SecTaskCreateFromSelf(_ allocator: CFAllocator?) -> SecTask? { SecTask() }

/// Returns the value of a process's entitlement.
///
/// - Parameters:
///   - task: The process.
///   - entitlement: The name of the entitlement.
///   - error: Never set.
/// - Returns: Always `nil`, as for a program that is signed without the entitlement. Linux programs are not signed.
@discardableResult
public func SecTaskCopyValueForEntitlement(
    _ task: SecTask,
    _ entitlement: CFString,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFTypeRef? { nil }

/// Returns the type identifier of tasks, which is unique within this package.
public func SecTaskGetTypeID() -> CFTypeID { 0x5345_4304 }
