/* SPDX-License-Identifier: Apache-2.0 */

#ifndef OBJECT_COUNT_H
#define OBJECT_COUNT_H

/* Begins to count the GObjects of this process; to be called before GLib has made its first one. */
void object_count_begin (void);

/* How many live now, of the type named or, with NULL, of all types; objects made before the beginning do not count. */
long object_count_live (const char *type);

/* How many were made since the beginning, of the type named or, with NULL, of all types. */
long object_count_made (const char *type);

#endif
