// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fprint.h>

// secure_getenv(3) is getenv(3) that returns NULL in a set-user-ID program. stdlib.h declares it only for GNU sources,
// which Swift's import does not define.
extern char *secure_getenv(const char *name);
