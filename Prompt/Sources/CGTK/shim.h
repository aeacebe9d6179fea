// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <dlfcn.h>
#include <fcntl.h>
#include <gtk/gtk.h>
#include <limits.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// What GTK gives as macros or as functions with variable arguments, which Swift does not import.

// Keeps typed passcodes out of core files, and other processes of the user from tracing this one; 0 where the system refuses.
static inline int whorl_hide_memory(void) {
    struct rlimit none = { 0, 0 };
    return !setrlimit(RLIMIT_CORE, &none) && !prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

// Of all open files but standard input and output, leaves these two alone to the program that is run next; 0 where that fails.
static inline int whorl_hand_over(int registration, int screen) {
    const unsigned int close_when_run = 1U << 2;  // CLOSE_RANGE_CLOEXEC (close_range(2))
    return !syscall(SYS_close_range, 3U, UINT_MAX, close_when_run) && !fcntl(registration, F_SETFD, 0) && !fcntl(screen, F_SETFD, 0);
}

// Opens a second connection to GTK's display server and asks for nothing on it, so that nothing comes but its end; -1 where that fails.
static inline int whorl_watch_screen(void) {
    GdkDisplay *display = gdk_display_get_default();
    const char *kind = G_OBJECT_TYPE_NAME(display);
    const int is_x11 = !strcmp(kind, "GdkX11Display");
    if (!is_x11 && strcmp(kind, "GdkWaylandDisplay")) return -1;
    // Both libraries are GTK's, and loaded.
    void *loaded = dlopen(NULL, RTLD_NOW);
    void *(*connect)(const char *) = (void *(*)(const char *))dlsym(loaded, is_x11 ? "XOpenDisplay" : "wl_display_connect");
    int (*descriptor)(void *) = (int (*)(void *))dlsym(loaded, is_x11 ? "XConnectionNumber" : "wl_display_get_fd");
    void *connection = connect && descriptor ? connect(gdk_display_get_name(display)) : NULL;
    return connection ? descriptor(connection) : -1;
}

// Gives the window libadwaita's look, where that library is installed; 0 where it is not.
static inline int whorl_adopt_adwaita(void) {
    void *library = dlopen("libadwaita-1.so.0", RTLD_NOW | RTLD_LOCAL);
    void (*begin)(void) = library ? (void (*)(void))dlsym(library, "adw_init") : NULL;
    if (begin) begin();
    return begin != NULL;
}

static inline void whorl_set_accessible_label(GtkWidget *widget, const char *label) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
}

// Without a role of its own GTK 4.8 tells that of the process's first window alone.
static inline GtkWidget *whorl_window_with_role(GtkAccessibleRole role) {
    return GTK_WIDGET(g_object_new(GTK_TYPE_WINDOW, "accessible-role", role, NULL));
}

static inline GtkWidget *whorl_label_with_role(GtkAccessibleRole role) {
    return GTK_WIDGET(g_object_new(GTK_TYPE_LABEL, "accessible-role", role, NULL));
}

static inline GtkWidget *whorl_drawing_with_role(GtkAccessibleRole role) {
    return GTK_WIDGET(g_object_new(GTK_TYPE_DRAWING_AREA, "accessible-role", role, NULL));
}
