// SPDX-License-Identifier: Apache-2.0

package import CGTK
package import WhorlSecretMemory
import WhorlService

package typealias Widget = UnsafeMutablePointer<GtkWidget>

extension UnsafeMutablePointer<GtkWidget> {
    /// Returns the same object as one of its base types or subtypes.
    package func of<Object>(_ type: Object.Type) -> UnsafeMutablePointer<Object> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: type)
    }

    /// Moves the text typed into this password field into secret memory and clears the field; `nil` if the text is empty
    /// or longer than any passcode.
    ///
    /// When the field is cleared, GTK wipes its memory (`GtkPasswordEntryBuffer`).
    @MainActor
    package func takePasscode() -> SecretBytes? {
        let field = OpaquePointer(self)
        guard let text = gtk_editable_get_text(field) else { return nil }
        let count = Int(strlen(text))
        defer { gtk_editable_set_text(field, "") }
        guard PromptEntry.sizes.contains(count) else { return nil }
        return SecretBytes(count: count) { room in
            room.copyMemory(from: UnsafeRawBufferPointer(start: text, count: count))
        }
    }
}
