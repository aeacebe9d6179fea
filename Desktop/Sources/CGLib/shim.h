// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gio/gio.h>
#include <gio/gunixfdlist.h>
#include <glib-unix.h>
#include <glib.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

// Keeps typed passwords and passcodes out of core files, and prevents the user's other processes from tracing this one;
// returns 0 on failure.
static inline int whorl_hide_memory(void) {
    struct rlimit none = { 0, 0 };
    return !setrlimit(RLIMIT_CORE, &none) && !prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
