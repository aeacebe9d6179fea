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
    ///   - enrolled: The fingers that cannot be chosen.
    ///   - chosen: Called with the finger; not called if the user cancels.
    static func ask(
        over window: Widget,
        except enrolled: Set<Finger>,
        then chosen: @escaping @MainActor @Sendable (NewFinger) -> Void
    ) {
        let name: Widget = gtk_entry_new()
        gtk_entry_set_placeholder_text(name.of(GtkEntry.self), translated("Name (optional)"))
        gtk_entry_set_max_length(name.of(GtkEntry.self), 100)
        whorl_set_accessible_label(name, translated("Name (optional)"))
        let dialog = Dialog(translated("Which finger do you want to add?"), over: window)
        func column(_ fingers: some Sequence<Finger>) -> Widget {
            let buttons = fingers.map { finger in
                let button = Build.button(Build.capitalized(translated(finger.spokenName))) {
                    let typed = gtk_editable_get_text(OpaquePointer(name)).map { String(cString: $0) } ?? ""
                    dialog.close()
                    chosen(NewFinger(finger, label: typed.isEmpty ? nil : typed, isGuided: true))
                }
                gtk_widget_set_sensitive(button, enrolled.contains(finger) ? 0 : 1)
                return button
            }
            return Build.box(GTK_ORIENTATION_VERTICAL, spacing: 6, buttons)
        }
        let hands = Build.box(
            GTK_ORIENTATION_HORIZONTAL,
            [column(Finger.allCases.prefix(5)), column(Finger.allCases.dropFirst(5))]
        )
        gtk_box_set_homogeneous(hands.of(GtkBox.self), 1)
        dialog.present([name, hands])
    }
}
