// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fprint.h>

// secure_getenv(3) is like getenv(3), but returns NULL in a set-user-ID program. stdlib.h declares it only if
// _GNU_SOURCE is defined, which is not the case when Swift imports it.
extern char *secure_getenv(const char *name);
