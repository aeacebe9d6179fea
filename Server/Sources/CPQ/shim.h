/* SPDX-License-Identifier: Apache-2.0 */

#ifndef WHORL_CPQ_SHIM_H
#define WHORL_CPQ_SHIM_H

#include <libpq-fe.h>

#endif
