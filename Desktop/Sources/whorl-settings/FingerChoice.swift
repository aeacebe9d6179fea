// SPDX-License-Identifier: Apache-2.0

import CGTK
import PromptWindows
import WhorlFingerprint
import WhorlService
import WhorlSupport

/// The dialog that asks which finger to enroll.
@MainActor
enum FingerChoice {
    /// Asks for a finger and its name.
    ///
    /// - Parameters:
    ///   - window: The window behind the dialog.
    ///   - enrolled: The fingers that are enrolled; the service refuses them, except on another reader.
    ///   - chosen: Called with the finger; not called if the user cancels.
    static func ask(
        over window: Widget,
        marking enrolled: Set<Finger>,
        then chosen: @escaping @MainActor @Sendable (NewFinger) -> Void
    ) {
        let field: Widget = gtk_entry_new()
        gtk_entry_set_max_length(field.of(GtkEntry.self), 100)
        let dialog = Dialog(translated("Which finger do you want to add?"), over: window)
        func column(_ fingers: some Sequence<Finger>) -> Widget {
            let buttons = fingers.map { finger in
                let name = Build.capitalized(translated(finger.spokenName))
                return Build.button(enrolled.contains(finger) ? name + " ✓" : name) {
                    let typed = gtk_editable_get_text(OpaquePointer(field)).map { String(cString: $0) } ?? ""
                    dialog.close()
                    chosen(NewFinger(finger, label: typed.isEmpty ? nil : typed, isGuided: true))
                }
            }
            return Build.box(GTK_ORIENTATION_VERTICAL, spacing: 6, buttons)
        }
        let hands = Build.box(
            GTK_ORIENTATION_HORIZONTAL,
            [column(Finger.allCases.prefix(5)), column(Finger.allCases.dropFirst(5))]
        )
        gtk_box_set_homogeneous(hands.of(GtkBox.self), 1)
        dialog.present([Build.field(translated("Name (optional)"), field), hands])
    }
}
