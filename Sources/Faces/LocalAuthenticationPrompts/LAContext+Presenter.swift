// SPDX-License-Identifier: Apache-2.0

// The names that a presenter needs. They are in a module of their own, since none of them is Apple's: what a program
// imports as LocalAuthentication has no name that its own types may have.
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

/// An addition for Linux: on Apple's systems the system itself shows the prompt.
extension LAContext {
    /// The presenter of this context's prompts; `nil`, the default, means the terminal.
    ///
    /// A program with its own screen (a desktop, a kiosk, a login) sets its own presenter, since it has no terminal
    /// that a person sees. An evaluation uses the presenter that is set when it begins.
    ///
    ///     #if canImport(LocalAuthenticationPrompts)
    ///     context.promptPresenter = KioskPrompt()
    ///     #endif
    ///
    /// A presenter receives only information to display, and its return value can only end an evaluation: no presenter
    /// can make one succeed.
    public var promptPresenter: (any PromptPresenter)? {
        get { core.settings.presenter }
        set { core.change { $0.presenter = newValue } }
    }

    /// The strength of the touch in the last evaluation that succeeded.
    ///
    /// It has the reader, whether the reader compared by itself, whether two fingers matched, and whether the passcode was typed
    /// as well. It is `nil` before a success, and when only the passcode answered.
    ///
    ///     guard context.evaluatedTouchStrength?.isMatchedOnChip == true else { return refuse() }
    public var evaluatedTouchStrength: TouchStrength? { core.evaluatedStrength }
}
