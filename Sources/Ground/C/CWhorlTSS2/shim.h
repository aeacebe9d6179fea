// SPDX-License-Identifier: Apache-2.0
//
// The parts of tpm2-tss that Whorl uses: ESAPI, marshalling, descriptions of response codes, and the TCTI loader.
#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_rc.h>
#include <tss2/tss2_tctildr.h>

// secure_getenv(3) is like getenv(3), but returns NULL in a set-user-ID program. stdlib.h declares it only if
// _GNU_SOURCE is defined, which is not the case when Swift imports it.
extern char *secure_getenv(const char *name);
