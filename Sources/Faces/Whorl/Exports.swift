// SPDX-License-Identifier: Apache-2.0

// The types that this module's functions take and return. Nothing else of their modules is exported.
@_exported public import struct WhorlService.AccessControl
@_exported public import struct WhorlService.EnrolledFinger
@_exported public import enum WhorlService.Policy
@_exported public import struct WhorlService.Prompt
@_exported public import enum WhorlService.PromptAction
@_exported public import class WhorlService.PromptEntry
@_exported public import protocol WhorlService.PromptPresenter
@_exported public import enum WhorlService.PromptUpdate
@_exported public import struct WhorlService.ServiceError
@_exported public import struct WhorlService.Signature
@_exported public import struct WhorlService.SigningKeyPublic
@_exported public import struct WhorlService.VaultItem
@_exported public import enum WhorlFingerprint.Finger
@_exported public import enum WhorlFingerprint.FingerArea
@_exported public import struct WhorlFingerprint.PrintID
@_exported public import struct WhorlFingerprint.ReaderInfo
@_exported public import enum WhorlFingerprint.ScanEvent
@_exported public import enum WhorlFingerprint.ScanRetry
