// SPDX-License-Identifier: Apache-2.0

// What a test says about fingers; nothing else of the module is exported.
@_exported public import enum WhorlFingerprint.Finger
@_exported public import enum WhorlFingerprint.ScanRetry
