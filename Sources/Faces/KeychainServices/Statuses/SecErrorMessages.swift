// SPDX-License-Identifier: Apache-2.0

/// The message for each status that this package returns.
let errorMessages: [OSStatus: String] = [
    errSecSuccess: "No error.",
    errSecUnimplemented: "The function or option is not implemented.",
    errSecDiskFull: "The disk is full.",
    errSecIO: "The disk or the TPM failed.",
    errSecParam: "Invalid parameter.",
    errSecUserCanceled: "The user canceled the operation.",
    errSecInternalComponent: "A part of the keychain failed.",
    errSecMissingEntitlement: "The program is not in this access group.",
    errSecNotAvailable: "No keychain is available, or the item cannot be protected.",
    errSecAuthFailed: "Authentication failed.",
    errSecDuplicateItem: "The item already exists.",
    errSecItemNotFound: "The item was not found in the keychain.",
    errSecNoSuchAttr: "The attribute does not exist for this item class.",
    errSecNoSuchClass: "Unknown item class.",
    errSecInteractionNotAllowed: "User interaction is not allowed.",
    errSecDataNotAvailable: "The value of the item is not available.",
    errSecDecode: "The data could not be decoded.",
    errSecInternalError: "An internal error occurred.",
    errSecInvalidRecord: "The item is damaged.",
    errSecInvalidKeyRef: "The key cannot be used for this operation.",
    errSecVerifyFailed: "The signature is not valid.",
]

/// Returns a message that describes a status.
///
/// - Parameters:
///   - status: The status of a call.
///   - reserved: Ignored.
/// - Returns: The message. For a status that this package never returns, it consists of `OSStatus` and the number.
@discardableResult
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    (errorMessages[status] ?? "OSStatus \(status)") as NSString
}
