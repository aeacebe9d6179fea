// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fprint.h>

// getenv(3) that gives nothing in a set-user-ID program: stdlib.h has it for GNU sources alone, which Swift's import is not.
extern char *secure_getenv(const char *name);
