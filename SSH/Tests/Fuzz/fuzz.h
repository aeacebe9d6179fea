/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WHORL_FUZZ_H
#define WHORL_FUZZ_H

#include <stddef.h>

/* Sets the contents of all files that the agent reads. The memory must stay valid until they are read. */
void fuzz_set_files(const void *bytes, size_t count);

#endif
