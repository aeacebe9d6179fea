// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gio/gio.h>
#include <glib-object.h>
#include <glib.h>
// The ACL of a device node, which Swift's Glibc does not have.

// Declared in a folder of headers that gio-2.0's flags do not name (gio/gunixfdlist.h), and part of the same library.
extern gint g_unix_fd_list_get(GUnixFDList *list, gint index, GError **error);
