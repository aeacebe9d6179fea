// SPDX-License-Identifier: Apache-2.0

import CGTK
import Glibc

/// A short movement to the sides after a touch that was not recognized.
///
/// It is left out if the desktop's settings turn animations off.
@MainActor
enum Shake {
    /// The duration in microseconds, the number of movements, and the distance in pixels.
    private static let length: gint64 = 400_000
    private static let swings = 3.0
    private static let distance = 6.0
    /// The time at which the movement began.
    private static var began: gint64?

    /// Moves a widget once.
    static func begin(_ widget: Widget) {
        guard whorl_animates() != 0 else { return }
        began = g_get_monotonic_time()
        let tick: GtkTickCallback = { widget, _, _ in
            gtk_widget_queue_draw(widget)
            return MainActor.assumeIsolated { Shake.isOver } ? 0 : 1
        }
        gtk_widget_add_tick_callback(widget, tick, nil, nil)
    }

    /// The current offset of the drawing.
    static var offset: Double {
        guard let began, !isOver else { return 0 }
        let part = Double(g_get_monotonic_time() - began) / Double(length)
        return sin(part * swings * 2 * .pi) * distance * (1 - part)
    }

    private static var isOver: Bool { began.map { g_get_monotonic_time() - $0 >= length } ?? true }
}
