// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <dlfcn.h>
#include <fcntl.h>
#include <gtk/gtk.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// Wrappers for macros and variadic functions, which Swift does not import.

// Lets the next program inherit only these two descriptors, besides 0 to 2; returns 0 on failure.
static inline int whorl_hand_over(int registration, int screen) {
    const unsigned int close_when_run = 1U << 2;  // CLOSE_RANGE_CLOEXEC (close_range(2))
    return !syscall(SYS_close_range, 3U, UINT_MAX, close_when_run) && !fcntl(registration, F_SETFD, 0) && !fcntl(screen, F_SETFD, 0);
}

// Opens a second connection to GTK's display server. Nothing is requested on it, so nothing arrives until the server
// closes it. Returns -1 on failure.
static inline int whorl_watch_screen(void) {
    GdkDisplay *display = gdk_display_get_default();
    const char *kind = G_OBJECT_TYPE_NAME(display);
    const int is_x11 = !strcmp(kind, "GdkX11Display");
    if (!is_x11 && strcmp(kind, "GdkWaylandDisplay")) return -1;
    // GTK has already loaded the library.
    void *loaded = dlopen(NULL, RTLD_NOW);
    void *(*connect)(const char *) = (void *(*)(const char *))dlsym(loaded, is_x11 ? "XOpenDisplay" : "wl_display_connect");
    int (*descriptor)(void *) = (int (*)(void *))dlsym(loaded, is_x11 ? "XConnectionNumber" : "wl_display_get_fd");
    void *connection = connect && descriptor ? connect(gdk_display_get_name(display)) : NULL;
    return connection ? descriptor(connection) : -1;
}

// Gives windows the style of libadwaita; returns 0 if libadwaita is not installed.
static inline int whorl_adopt_adwaita(void) {
    void *library = dlopen("libadwaita-1.so.0", RTLD_NOW | RTLD_LOCAL);
    void (*begin)(void) = library ? (void (*)(void))dlsym(library, "adw_init") : NULL;
    if (begin) begin();
    return begin != NULL;
}

static inline void whorl_set_accessible_label(GtkWidget *widget, const char *label) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
}

static inline void whorl_set_accessible_description(GtkWidget *widget, const char *text) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
}

// Without an explicit role, GTK 4.8 reports a role only for the first window of the process.
static inline GtkWidget *whorl_window_with_role(GtkAccessibleRole role) {
    return GTK_WIDGET(g_object_new(GTK_TYPE_WINDOW, "accessible-role", role, NULL));
}

static inline GtkWidget *whorl_label_with_role(GtkAccessibleRole role) {
    return GTK_WIDGET(g_object_new(GTK_TYPE_LABEL, "accessible-role", role, NULL));
}

// A box that looks like an entry.
static inline GtkWidget *whorl_frame_of_password(void) {
    GtkWidget *frame = GTK_WIDGET(g_object_new(GTK_TYPE_BOX, "css-name", "entry", "accessible-role", GTK_ACCESSIBLE_ROLE_GROUP, NULL));
    gtk_widget_add_css_class(frame, "password");
    return frame;
}

// An image that screen readers skip.
static inline GtkWidget *whorl_image_without_role(void) {
    return GTK_WIDGET(g_object_new(GTK_TYPE_IMAGE, "accessible-role", GTK_ACCESSIBLE_ROLE_PRESENTATION, NULL));
}

static inline GtkWidget *whorl_drawing_with_role(GtkAccessibleRole role) {
    return GTK_WIDGET(g_object_new(GTK_TYPE_DRAWING_AREA, "accessible-role", role, NULL));
}

// Returns 0 if the desktop's settings turn animations off.
static inline int whorl_animates(void) {
    gboolean animates = FALSE;
    g_object_get(gtk_settings_get_default(), "gtk-enable-animations", &animates, NULL);
    return animates;
}
