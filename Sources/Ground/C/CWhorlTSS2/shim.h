// SPDX-License-Identifier: Apache-2.0
//
// The parts of tpm2-tss that Whorl uses: ESAPI, marshalling, the text of response codes, the TCTI loader.
#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_rc.h>
#include <tss2/tss2_tctildr.h>

// secure_getenv(3) is getenv(3) that returns NULL in a set-user-ID program. stdlib.h declares it only for GNU sources,
// which Swift's import does not define.
extern char *secure_getenv(const char *name);
