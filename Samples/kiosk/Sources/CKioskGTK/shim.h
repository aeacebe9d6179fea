// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <glib-unix.h>
#include <gtk/gtk.h>
#include <sys/prctl.h>
#include <sys/resource.h>

// Wrappers for macros and variadic functions, which Swift does not import.

// Keeps typed passwords out of core files, and prevents the user's other processes from tracing this one; returns 0 on
// failure.
static inline int kiosk_hide_memory(void) {
    struct rlimit none = { 0, 0 };
    return !setrlimit(RLIMIT_CORE, &none) && !prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

static inline void kiosk_set_accessible_label(GtkWidget *widget, const char *label) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
}

static inline GtkWidget *kiosk_label_with_role(GtkAccessibleRole role) {
    return GTK_WIDGET(g_object_new(GTK_TYPE_LABEL, "accessible-role", role, NULL));
}

// Stops the text cursor from blinking, because GTK would redraw the screen sixty times a second.
static inline void kiosk_hold_cursor(void) {
    g_object_set(gtk_settings_get_default(), "gtk-cursor-blink", FALSE, NULL);
}
