// SPDX-License-Identifier: Apache-2.0

package import WhorlFingerprint
internal import WhorlSupport

/// An update from a longer activity at a reader: an enrollment, the capture of an image, or a test of the reader.
package enum ScanActivityUpdate: Sendable, Hashable {
    /// An event from the reader.
    case scan(ScanEvent)
    /// The part of the finger that the next touch should cover.
    case area(FingerArea)
    /// The start of a new part with this instruction, such as `Touch once more to confirm.`
    case part(String)
    /// The activity succeeded, with this message.
    case finished(String)
    /// The activity failed, with this message.
    case failed(String)
}

/// The progress display of a longer activity at a reader: the instruction, a progress bar, and problems with a touch.
///
/// The display does not read keys, and ^C ends the program. On a terminal, it redraws itself in place; elsewhere, it
/// writes lines.
package struct ScanActivity: Sendable {
    private let state: ScanActivityState

    /// Creates a progress display on standard error.
    package init(_ state: ScanActivityState) { self.state = state }

    /// Shows the progress until `updates` ends or the task is canceled.
    package func show(_ updates: AsyncStream<ScanActivityUpdate>) async {
        await Board(state, Terminal.standardError(), terminalEnvironment()).show(updates)
    }
}

/// The content of a progress display.
package struct ScanActivityState: Drawing, Hashable {
    package enum Phase: Sendable, Hashable {
        case preparing, waiting, reading
        case finished(String)
        case failed(String)
    }

    private let title: String
    private let readerName: String
    private let readerKind: ReaderInfo.Kind
    private let scanType: ReaderInfo.ScanType
    private var phase = Phase.preparing
    private var part: String?
    private var hint: String?
    private var progress: PromptState.Progress?
    private var area: FingerArea?
    private var wasAlike = false

    /// Creates the content before the first update.
    ///
    /// - Parameters:
    ///   - title: The activity, such as `Enroll the right index finger`. Control characters are removed from it.
    ///   - readerName: The reader's name, which may come from the device. Control characters are removed from it.
    ///   - readerKind: Whether the reader is real hardware. A simulated reader is marked as such.
    ///   - scanType: Whether the reader requires a press or a swipe.
    package init(
        title: String,
        readerName: String,
        readerKind: ReaderInfo.Kind,
        scanType: ReaderInfo.ScanType
    ) {
        self.title = title
        self.readerName = readerName
        self.readerKind = readerKind
        self.scanType = scanType
    }

    package static var interrupted: ScanActivityUpdate { .failed("Canceled.") }

    package var isOver: Bool {
        switch phase {
        case .finished, .failed: true
        case .preparing, .waiting, .reading: false
        }
    }

    package mutating func apply(_ update: ScanActivityUpdate) {
        guard !isOver else { return }  // a finger that is lifted afterwards changes nothing
        switch update {
        case .scan(.touch): phase = .waiting
        case .scan(.finger(let present)):
            if present { (phase, hint) = (.reading, nil) } else if phase == .reading { phase = .waiting }
        case .scan(.retry(let reason)): hint = reason.hint
        case .scan(.alike): wasAlike = true
        case .scan(.stage(let completed, let total)):
            (progress, hint) = (
                .init(completed: completed, total: total), wasAlike ? FingerArea.alikeHint : nil
            )
            wasAlike = false
        case .area(let area): self.area = area
        case .part(let text): (part, hint, phase, area) = (text, nil, .preparing, nil)
        case .finished(let text): (phase, hint, part) = (.finished(text), nil, nil)
        case .failed(let text): (phase, hint, part) = (.failed(text), nil, nil)
        }
    }

    private var instruction: String { area?.instruction ?? scanType.instruction }

    package func lines(_ style: TerminalStyle) -> [String] {
        func text(_ text: String, _ indent: Int) -> String {
            TerminalText.line(text, columns: style.columns - indent, ascii: style.ascii)
        }
        let dots = style.ascii ? "..." : "…"
        var lines = [style.paint(text(title, 0), .bold), "  " + style.paint(text(readerName, 2), .faint)]
        if let warning = readerKind.warning { lines.append("  " + style.paint(text(warning, 2), .yellow)) }
        if let progress { lines.append("  " + style.line(progress)) }
        if let part { lines.append("  " + text(part, 2)) }
        switch phase {
        case .preparing: lines.append("  " + text("Preparing the reader", 5) + dots)
        case .waiting: lines.append("  " + style.paint(text(instruction, 2), .bold))
        case .reading: lines.append("  " + text("Reading", 5) + dots)
        case .finished(let end): lines.append("  " + style.sign(.good) + " " + text(end, 5))
        case .failed(let end): lines.append("  " + style.sign(.bad) + " " + text(end, 5))
        }
        if let hint { lines.append("  " + style.paint(text(hint, 2), .yellow)) }
        return lines
    }

    package func opening(_ style: TerminalStyle) -> [String] {
        let heading = TerminalText.line(
            "\(title) (\(readerName))",
            columns: style.columns,
            ascii: style.ascii
        )
        return [heading]
            + (readerKind.warning.map {
                [TerminalText.line($0, columns: style.columns, ascii: style.ascii)]
            } ?? [])
    }

    package func line(for update: ScanActivityUpdate, _ style: TerminalStyle) -> String? {
        func text(_ text: String) -> String {
            TerminalText.line(text, columns: style.columns, ascii: style.ascii)
        }
        return switch update {
        case .scan(.touch): text(instruction)
        case .scan(.finger), .area: nil
        case .scan(.alike): text(FingerArea.alikeHint)
        case .scan(.retry(let reason)): text(reason.hint)
        case .scan(.stage(let completed, let total)):
            translated("%1$@ of %2$@.", with: String(completed), String(total))
        case .part(let part): text(part)
        case .finished(let end), .failed(let end): text(end)
        }
    }
}
