// SPDX-License-Identifier: Apache-2.0

import CGTK

/// A drawing of a fingerprint whose ridges fill up, in the theme's color.
@MainActor
enum FingerprintDrawing {
    private static let size: Int32 = 96
    private static let ridges = 6

    static func make() -> UnsafeMutablePointer<GtkWidget> {
        let widget: UnsafeMutablePointer<GtkWidget> = whorl_drawing_with_role(GTK_ACCESSIBLE_ROLE_IMG)
        let area = widget.of(GtkDrawingArea.self)
        gtk_drawing_area_set_content_width(area, size)
        gtk_drawing_area_set_content_height(area, size)
        gtk_widget_set_halign(widget, GTK_ALIGN_CENTER)
        let drawn: GtkDrawingAreaDrawFunc = { area, cairo, width, height, _ in
            guard let area, let cairo else { return }
            var ink = GdkRGBA()
            let style = gtk_widget_get_style_context(
                UnsafeMutableRawPointer(area).assumingMemoryBound(to: GtkWidget.self)
            )
            gtk_style_context_get_color(style, &ink)
            // GTK calls this on its own thread, which is the main actor's.
            nonisolated(unsafe) let canvas = cairo
            let color = ink
            MainActor.assumeIsolated {
                let filled = PromptWindow.shown?.filled ?? 0
                FingerprintDrawing.draw(on: canvas, Double(width), Double(height), color, filled)
            }
        }
        gtk_drawing_area_set_draw_func(area, drawn, nil, nil)
        return widget
    }

    /// Draws the ridges as arches around a core, filled from the core outwards.
    private static func draw(
        on cairo: OpaquePointer,
        _ width: Double,
        _ height: Double,
        _ ink: GdkRGBA,
        _ filled: Double
    ) {
        let unit = min(width, height) / Double(2 * ridges + 2)
        cairo_set_line_width(cairo, unit * 0.5)
        cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND)
        for ridge in 1...ridges {
            let isFilled = Double(ridge) <= filled * Double(ridges) + 0.001
            let alpha = Double(ink.alpha) * (isFilled ? 1 : 0.35)
            cairo_set_source_rgba(cairo, Double(ink.red), Double(ink.green), Double(ink.blue), alpha)
            let gap = 0.35 + 0.12 * Double(ridge % 3)
            cairo_new_sub_path(cairo)
            cairo_arc(cairo, width / 2, height / 2, unit * Double(ridge), .pi / 2 + gap, 2.5 * .pi - gap)
            cairo_stroke(cairo)
        }
    }
}
