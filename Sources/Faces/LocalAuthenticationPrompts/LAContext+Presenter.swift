// SPDX-License-Identifier: Apache-2.0

// The names that a presenter needs. They are in a separate module because they are not Apple's: importing
// LocalAuthentication must not add names that the program's own types may have.
@_exported public import protocol WhorlService.PromptPresenter
@_exported public import struct WhorlService.TouchStrength
@_exported public import struct WhorlService.Prompt
@_exported public import enum WhorlService.PromptAction
@_exported public import class WhorlService.PromptEntry
@_exported public import enum WhorlService.PromptUpdate
@_exported public import enum WhorlFingerprint.Finger
@_exported public import struct WhorlFingerprint.ReaderInfo
@_exported public import enum WhorlFingerprint.ScanEvent
@_exported public import enum WhorlFingerprint.ScanRetry
internal import WhorlContext
public import LocalAuthentication

/// Additions for Linux. On Apple's systems, the system itself shows the prompt.
extension LAContext {
    /// The presenter that shows this context's prompts.
    ///
    /// If this is `nil`, the default, prompts appear in the terminal.
    ///
    /// A program without a visible terminal (a desktop, a kiosk, a login screen) sets its own presenter. An evaluation
    /// uses the presenter that is set when the evaluation starts.
    ///
    ///     #if canImport(LocalAuthenticationPrompts)
    ///     context.promptPresenter = KioskPrompt()
    ///     #endif
    ///
    /// A presenter receives only information to display. It can end an evaluation, but it can never make one succeed.
    public var promptPresenter: (any PromptPresenter)? {
        get { core.settings.presenter }
        set { core.change { $0.presenter = newValue } }
    }

    /// The strength of the touch in the last successful evaluation.
    ///
    /// It describes the reader, whether the reader itself compared the fingerprint, whether two fingers matched, and
    /// whether the passcode was also typed. The value is `nil` before the first success, and if only the passcode was
    /// used.
    ///
    ///     guard context.evaluatedTouchStrength?.isMatchedOnChip == true else { return refuse() }
    public var evaluatedTouchStrength: TouchStrength? { core.evaluatedStrength }
}
