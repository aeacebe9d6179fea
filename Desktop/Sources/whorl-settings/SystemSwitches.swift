// SPDX-License-Identifier: Apache-2.0

import CGTK
import MainThread
import PromptWindows
import WhorlSupport

/// The switches for all users of the computer, each of which an administrator must allow.
@MainActor
final class SystemSwitches {
    /// The list below its heading.
    let widget: Widget
    /// Called after each change.
    var changed: Build.Action = {}

    private let status: Widget
    private let list = Build.list()
    private var rows: [SystemSwitch: SwitchRow] = [:]
    private var states: [SystemSwitch: SwitchState] = [:]
    /// Whether a change has not ended, while no other one is begun.
    private var isBusy = false

    /// Creates the list; the status shows how a change ended.
    init(_ status: Widget) {
        self.status = status
        let heading = Build.label(translated("For all users of this computer:"), style: "heading")
        widget = Build.box(GTK_ORIENTATION_VERTICAL, [heading, list])
        gtk_widget_set_visible(widget, 0)
        for place in SystemSwitch.all {
            let row = SwitchRow(place.title) { [weak self] isOn in self?.turn(place, on: isOn) }
            gtk_list_box_append(OpaquePointer(list), row.widget)
            gtk_widget_set_visible(row.widget, 0)
            rows[place] = row
        }
    }

    /// Reads all switches; `then` is called with their states.
    func reload(then: @escaping @MainActor @Sendable ([SystemSwitch: SwitchState]) -> Void) {
        Task.detached {
            let states = await SystemSwitch.states()
            onMainThread {
                self.show(states)
                then(states)
            }
        }
    }

    private func show(_ states: [SystemSwitch: SwitchState]) {
        self.states = states
        for (place, row) in rows {
            gtk_widget_set_visible(row.widget, states[place] == nil ? 0 : 1)
            if let state = states[place] { row.show(state) }
        }
        gtk_widget_set_visible(widget, states.isEmpty ? 0 : 1)
    }

    private func turn(_ place: SystemSwitch, on isOn: Bool) {
        guard !isBusy else {
            if let state = states[place] { rows[place]?.show(state) }
            return
        }
        isBusy = true
        Task.detached {
            let sentence = await place.turn(on: isOn)
            onMainThread {
                self.isBusy = false
                Build.set(self.status, sentence)
                self.changed()
            }
        }
    }
}
