/* SPDX-License-Identifier: Apache-2.0 */

#ifndef CWHORLSQLITE_SHIM_H
#define CWHORLSQLITE_SHIM_H

#include <sqlite3.h>

/* The original is variadic, so Swift cannot call it. */
static inline int
whorl_sqlite_set (sqlite3 *connection, int option, int value)
{
  return sqlite3_db_config (connection, option, value, (int *) 0);
}

/* SQLITE_TRANSIENT contains a cast, so Swift does not import it. */
static inline int
whorl_sqlite_bind_text (sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 size)
{
  return sqlite3_bind_text64 (statement, index, text, size, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int
whorl_sqlite_bind_blob (sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 size)
{
  return sqlite3_bind_blob64 (statement, index, bytes, size, SQLITE_TRANSIENT);
}

#endif
