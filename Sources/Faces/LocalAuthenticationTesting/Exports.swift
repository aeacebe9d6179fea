// SPDX-License-Identifier: Apache-2.0

// Tests use the names of fingers. Nothing else of the module is exported.
@_exported public import enum WhorlFingerprint.Finger
@_exported public import enum WhorlFingerprint.ScanRetry
