// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gio/gio.h>
#include <glib-object.h>
#include <glib.h>
// For the ACL of a device node; not part of Swift's Glibc module.

// A function of the same library whose header (gio/gunixfdlist.h) is in a folder that gio-2.0's compiler flags do not
// include.
extern gint g_unix_fd_list_get(GUnixFDList *list, gint index, GError **error);
