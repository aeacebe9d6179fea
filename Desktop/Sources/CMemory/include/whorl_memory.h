// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Gives back the memory that a program does not need while it waits: freed memory, and code and constants, which the
/// kernel maps again when they are used.
void whorl_give_back_memory(void);
