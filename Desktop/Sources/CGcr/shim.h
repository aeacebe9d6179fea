// SPDX-License-Identifier: Apache-2.0
#pragma once
// The library's interface is stable, but its headers still require this.
#define GCR_API_SUBJECT_TO_CHANGE
#define GCK_API_SUBJECT_TO_CHANGE
#include <gcr/gcr-base.h>
