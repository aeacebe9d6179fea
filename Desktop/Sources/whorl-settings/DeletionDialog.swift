// SPDX-License-Identifier: Apache-2.0

import CGTK
import PromptWindows
import WhorlSupport

/// The dialog that asks for confirmation before an item is deleted.
@MainActor
enum DeletionDialog {
    /// Asks for confirmation.
    ///
    /// - Parameters:
    ///   - window: The window behind the dialog.
    ///   - name: The name of the item.
    ///   - confirmed: Called if the user confirms.
    static func ask(over window: Widget, about name: String, then confirmed: @escaping Build.Action) {
        let dialog = Dialog(translated("Delete “%1$@”?", with: name), over: window)
        let delete = Build.button(translated("Delete")) {
            dialog.close()
            confirmed()
        }
        gtk_widget_add_css_class(delete, "destructive-action")
        let warning = translated("Programs that need it stop working. This cannot be undone.")
        dialog.present([Build.label(warning)], buttons: [delete])
    }
}
