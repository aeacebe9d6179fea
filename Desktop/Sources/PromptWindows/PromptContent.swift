// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlService
import WhorlSupport

/// The content of a prompt's window, as a value to which the service's updates are applied.
struct PromptContent: Sendable {
    let prompt: Prompt
    /// The desktop file of the requesting program; `nil` for a program that is known only by its own claim.
    let entry: AskerEntry?
    /// The number of the program's prompts in the last minute.
    let count: Int
    private(set) var status: String
    /// The problem with the last touch or passcode.
    private(set) var hint = ""
    /// The filled part of the fingerprint, from 0 to 1.
    private(set) var filled = 0.0
    private(set) var showsPasscode: Bool
    /// Whether a passcode can be submitted now.
    private(set) var takesPasscode = true
    private(set) var isOver = false
    /// Whether the touch or the passcode was accepted, or the finger was enrolled.
    private var hasSucceeded = false
    private var isEnrollment = false
    /// During an enrollment: the requested part of the finger, the result of the test touches, and whether the last
    /// press showed the same part as an earlier one.
    private var area: FingerArea?
    private var tested: String?
    private var wasAlike = false

    init(_ prompt: Prompt, count: Int) {
        self.prompt = prompt
        self.count = count
        entry = prompt.asker?.confinedAs.flatMap(AskerEntry.init(confinedAs:))
        status =
            prompt.parts == .passcode
            ? translated("Enter the passcode.") : translated("Preparing the reader…")
        showsPasscode = prompt.parts == .passcode
    }

    /// Creates the content for enrolling a finger.
    init(enrolling finger: Finger, _ reader: ReaderInfo.Kind, _ scanType: ReaderInfo.ScanType) {
        let prompt = Prompt(
            title: translated("Enroll the %1$@", with: translated(finger.spokenName)),
            reason: "",
            purpose: .changeFingers,
            cancelTitle: "Cancel",
            fallbackTitle: nil,
            readerKind: reader,
            scanType: scanType
        )
        self.init(prompt, count: 1)
        isEnrollment = true
    }

    /// The requesting program: the name of its package, the id of a confined program, or the program's own name.
    var asker: String { entry?.name ?? identity }
    /// The id of a confined program whose package has a name; empty for other programs.
    var askerID: String { entry == nil ? "" : identity }
    /// The id of a confined program or the program's own name, each marked as such.
    private var identity: String { DisplayText.clean(prompt.title, limit: 200) }
    var reason: String { DisplayText.clean(prompt.reason, limit: 200) }
    /// The purpose of the touch or passcode, as reported by the service.
    var purpose: String { DisplayText.clean(prompt.purposeLine, limit: 200) }
    var cancelTitle: String { DisplayText.clean(translated(prompt.cancelTitle), limit: 40) }

    /// The title of the fallback button, if it is shown.
    ///
    /// The passcode field takes its place.
    var fallbackTitle: String? {
        showsPasscode || isOver
            ? nil : prompt.fallbackTitle.map { DisplayText.clean(translated($0), limit: 40) }
    }

    /// The warnings about the reader, and about a program that prompts often.
    var warning: String {
        let reader = prompt.readerKind.warning.map { [translated($0)] } ?? []
        let rate = count > 3 ? [Self.often(count)] : []
        return (reader + rate).joined(separator: "\n")
    }

    private static func often(_ count: Int) -> String {
        translated(
            "%d prompt of this program in the last minute.",
            "%d prompts of this program in the last minute.",
            count: count
        )
    }

    /// The content of the drawing.
    var picture: PromptPicture {
        isOver && hasSucceeded ? .check : .ridges(filled: isEnrollment ? filled : 1, area)
    }

    /// Shows the passcode field.
    mutating func openPasscode() { if prompt.parts.contains(.passcode) { showsPasscode = true } }

    private mutating func end(_ message: String?) {
        (status, hint, showsPasscode, isOver) = (message ?? "", "", false, true)
    }

    /// The instruction while the reader waits for a finger.
    private var instruction: String { area.map { translated($0.instruction) } ?? prompt.scanTypeText }

    mutating func apply(_ progress: EnrollmentProgress) {
        guard !isOver else { return }
        switch progress {
        case .began, .exercising: break
        case .scan(.alike): wasAlike = true
        case .scan(let event):
            apply(PromptUpdate.scan(event))
            if case .stage = event, wasAlike { (hint, wasAlike) = (translated(FingerArea.alikeHint), false) }
        case .area(let area): (self.area, status) = (area, translated(area.instruction))
        case .confirming: (area, hint) = (nil, translated("Touch once more to confirm."))
        case .again:
            let sentence =
                "Too many touches with the same part of the finger. Starting over with all parts."
            (filled, hint) = (0, translated(sentence))
        case .tested(_, 0, _):
            (area, filled) = (nil, 1)
            hint = translated("Finger enrolled. A few test touches show how well it is recognized.")
        case .tested(let recognized, let tested, _):
            let count = [String(recognized), String(tested)]
            hint = translated("%1$@ of %2$@ test touches recognized.", with: count[0], count[1])
            self.tested = hint
        }
    }

    /// Ends an enrollment.
    ///
    /// The result of the test touches remains.
    mutating func endEnrollment(_ message: String, isEnrolled: Bool) {
        hasSucceeded = isEnrolled
        end(DisplayText.clean(message, limit: 200))
        hint = tested ?? ""
    }

    mutating func apply(_ update: PromptUpdate) {
        guard !isOver else { return }
        // These strings may come from outside.
        let message = prompt.message(for: update).map { DisplayText.clean($0, limit: 200) }
        switch update {
        case .scan(.touch): status = instruction
        case .scan(.finger(let present)):
            status = present ? translated("Reading…") : instruction
            if present { hint = "" }
        case .scan(.alike): break
        case .scan(.retry), .noMatch, .anotherFinger: hint = message ?? hint
        case .scan(.stage(let completed, let total)):
            filled = total > 0 ? min(1, max(0, Double(completed) / Double(total))) : 0
            (status, hint) = (message ?? status, "")
        case .fingerEnded:
            (status, hint) = (translated("Enter the passcode."), message ?? "")
            openPasscode()
        case .checking: (takesPasscode, hint) = (false, translated("Checking…"))
        case .wrongPasscode, .throttled: (takesPasscode, hint) = (true, message ?? hint)
        case .passcodeEnded: (showsPasscode, hint) = (false, message ?? hint)
        case .matched, .verified:
            (filled, hasSucceeded) = (1, true)
            end(message)
        case .ended: end(message)
        }
    }
}

extension Prompt {
    fileprivate var scanTypeText: String { message(for: .scan(.touch)) ?? "" }
}
