// SPDX-License-Identifier: Apache-2.0
//
// The parts of tpm2-tss that Whorl uses: ESAPI, marshalling, the words for response codes, the TCTI loader.
#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_rc.h>
#include <tss2/tss2_tctildr.h>

// getenv(3) that gives nothing in a set-user-ID program: stdlib.h has it for GNU sources alone, which Swift's import is not.
extern char *secure_getenv(const char *name);
