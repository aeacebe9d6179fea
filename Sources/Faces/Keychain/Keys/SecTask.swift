// SPDX-License-Identifier: Apache-2.0

/// A process whose entitlements are asked for; Linux programs have none.
public final class SecTask: NSObject, Sendable {
    fileprivate override init() { super.init() }
}

/// Gives this process.
///
/// - Parameter allocator: Counts for nothing.
/// - Returns: The process; never `nil`.
@discardableResult
public func SecTaskCreateFromSelf(_ allocator: CFAllocator?) -> SecTask? { SecTask() }

/// Gives what an entitlement allows a process.
///
/// - Parameters:
///   - task: The process.
///   - entitlement: The name of the entitlement.
///   - error: Left alone.
/// - Returns: `nil`, as for a program that was signed without the entitlement: Linux programs are not signed.
@discardableResult
public func SecTaskCopyValueForEntitlement(
    _ task: SecTask,
    _ entitlement: CFString,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFTypeRef? { nil }

/// The type's number, which no other class here has.
public func SecTaskGetTypeID() -> CFTypeID { 0x5345_4304 }
