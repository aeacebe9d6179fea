// SPDX-License-Identifier: Apache-2.0

import CGTK
import WhorlFingerprint

/// A drawing of a fingerprint in the desktop's accent color.
///
/// It fills from the bottom with an enrollment, shows the part of the finger to use, and becomes a check mark after a
/// match.
@MainActor
enum FingerprintDrawing {
    private static let size: Int32 = 96
    /// The drawing's own units, as in the account page's icon.
    private static let units = 24.0
    private static let ridge = 1.4

    static func make() -> Widget {
        let widget: Widget = whorl_drawing_with_role(GTK_ACCESSIBLE_ROLE_IMG)
        let area = widget.of(GtkDrawingArea.self)
        gtk_drawing_area_set_content_width(area, size)
        gtk_drawing_area_set_content_height(area, size)
        gtk_widget_set_halign(widget, GTK_ALIGN_CENTER)
        let drawn: GtkDrawingAreaDrawFunc = { area, cairo, width, height, _ in
            guard let area, let cairo else { return }
            let widget = UnsafeMutableRawPointer(area).assumingMemoryBound(to: GtkWidget.self)
            let colors = DrawingColors(of: widget)
            // GTK calls this on its own thread, which is the main actor's.
            nonisolated(unsafe) let canvas = cairo
            MainActor.assumeIsolated {
                FingerprintDrawing.draw(on: canvas, Double(width), Double(height), colors)
            }
        }
        gtk_drawing_area_set_draw_func(area, drawn, nil, nil)
        return widget
    }

    private static func draw(
        on cairo: OpaquePointer,
        _ width: Double,
        _ height: Double,
        _ colors: DrawingColors
    ) {
        guard let window = PromptWindow.shown else { return }
        let scale = min(width, height) / units
        cairo_translate(cairo, width / 2 + Shake.offset, height / 2)
        cairo_scale(cairo, scale, scale)
        cairo_translate(cairo, -units / 2, -units / 2)
        draw(on: cairo, window.picture, colors)
    }

    private static func draw(on cairo: OpaquePointer, _ picture: PromptPicture, _ colors: DrawingColors) {
        cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND)
        cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND)
        switch picture {
        case .check:
            drawCheck(on: cairo, colors)
        case .ridges(let filled, let area):
            if let area { draw(area, on: cairo, colors) }
            cairo_set_line_width(cairo, ridge)
            colors.use(colors.ink, alpha: 0.35, on: cairo)
            traceRidges(on: cairo)
            cairo_stroke(cairo)
            guard filled > 0 else { return }
            cairo_save(cairo)
            cairo_rectangle(cairo, 0, units * (1 - filled), units, units)
            cairo_clip(cairo)
            colors.use(colors.accent, alpha: 1, on: cairo)
            traceRidges(on: cairo)
            cairo_stroke(cairo)
            cairo_restore(cairo)
        }
    }

    /// Traces the ridges of the account page's icon.
    private static func traceRidges(on cairo: OpaquePointer) {
        cairo_new_sub_path(cairo)
        cairo_arc(cairo, 12, 12.873, 8, 1.1611 * .pi, 1.8389 * .pi)
        cairo_move_to(cairo, 4, 15)
        cairo_curve_to(cairo, 4.4, 13.6, 4.5, 12.4, 4.5, 11)
        cairo_move_to(cairo, 19.8, 12)
        cairo_curve_to(cairo, 19.8, 14.5, 19.6, 16.5, 19.1, 18.5)
        cairo_move_to(cairo, 7, 19)
        cairo_curve_to(cairo, 8, 16.8, 8.3, 14.7, 8.3, 12)
        cairo_arc(cairo, 12, 12, 3.7, .pi, 2 * .pi)
        cairo_curve_to(cairo, 15.7, 15.2, 15.3, 18, 14.4, 20.6)
        cairo_move_to(cairo, 12, 12)
        cairo_curve_to(cairo, 12, 15.4, 11.5, 18.2, 10.3, 21)
    }

    /// Draws the outline of a fingertip, with a spot on the part to use.
    private static func draw(_ area: FingerArea, on cairo: OpaquePointer, _ colors: DrawingColors) {
        let (x, y) =
            switch area {
            case .center: (12.0, 13.0)
            case .tip: (12.0, 6.0)
            case .left: (6.0, 13.0)
            case .right: (18.0, 13.0)
            case .base: (12.0, 19.0)
            }
        cairo_arc(cairo, x, y, 4.5, 0, 2 * .pi)
        colors.use(colors.accent, alpha: 0.45, on: cairo)
        cairo_fill(cairo)
        cairo_set_line_width(cairo, 0.7)
        cairo_move_to(cairo, 1.2, 23.5)
        cairo_line_to(cairo, 1.2, 11.5)
        cairo_arc(cairo, 12, 11.5, 10.8, .pi, 2 * .pi)
        cairo_line_to(cairo, 22.8, 23.5)
        colors.use(colors.ink, alpha: 0.35, on: cairo)
        cairo_stroke(cairo)
    }

    private static func drawCheck(on cairo: OpaquePointer, _ colors: DrawingColors) {
        colors.use(colors.accent, alpha: 1, on: cairo)
        cairo_set_line_width(cairo, ridge)
        cairo_arc(cairo, 12, 12, 10, 0, 2 * .pi)
        cairo_stroke(cairo)
        cairo_set_line_width(cairo, 2)
        cairo_move_to(cairo, 7.2, 12.4)
        cairo_line_to(cairo, 10.6, 15.8)
        cairo_line_to(cairo, 16.8, 8.6)
        cairo_stroke(cairo)
    }
}

/// The content of the drawing.
enum PromptPicture: Equatable {
    /// The fingerprint, filled up to a fraction, and the part of the finger to use, if it matters.
    case ridges(filled: Double, FingerArea?)
    /// The touch or the passcode was accepted, or the finger was enrolled.
    case check
}

/// The colors of the drawing, from the theme.
struct DrawingColors {
    private(set) var ink = GdkRGBA()
    private(set) var accent = GdkRGBA()

    init(of widget: Widget) {
        let style = gtk_widget_get_style_context(widget)
        gtk_style_context_get_color(style, &ink)
        if gtk_style_context_lookup_color(style, "accent_color", &accent) != 0 { return }
        // GTK's own themes have no color for accented text. The one of selections is too dark on a dark background.
        guard gtk_style_context_lookup_color(style, "theme_selected_bg_color", &accent) != 0 else {
            accent = ink
            return
        }
        accent.red = (accent.red + 2 * ink.red) / 3
        accent.green = (accent.green + 2 * ink.green) / 3
        accent.blue = (accent.blue + 2 * ink.blue) / 3
    }

    func use(_ color: GdkRGBA, alpha: Double, on cairo: OpaquePointer) {
        let (red, green, blue) = (Double(color.red), Double(color.green), Double(color.blue))
        cairo_set_source_rgba(cairo, red, green, blue, alpha * Double(color.alpha))
    }
}
