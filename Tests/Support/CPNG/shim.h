/* SPDX-License-Identifier: Apache-2.0 */

#ifndef WHORL_CPNG_SHIM_H
#define WHORL_CPNG_SHIM_H

#include <png.h>

#endif
