/* SPDX-License-Identifier: Apache-2.0
 *
 * What Whorl is measured against: a plain client of ESAPI that sends the same commands for a signature or a secret after a
 * match. The authority, the item and the session that the authority is asked by stay in the TPM; each use has a policy
 * session of its own, salted to the storage root.
 *
 *   release TCTI      reads the file `plan`; each line on stdin is one use, answered by how many nanoseconds it took
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_tctildr.h>

#define CHECK(call) check (call, #call)

static ESYS_CONTEXT *esys;
static ESYS_TR root, authority, item, counter, asking;
static int is_secret;
static TPM2B_OPERAND value;
static TPML_DIGEST branches;

static void
check (TSS2_RC code, const char *call)
{
  if (code == 0)
    return;
  fprintf (stderr, "release: error: 0x%x: %.60s\n", code, call);
  exit (1);
}

/* The value of a word of the plan; NULL when it is not there. */
static const char *
planned (const char *name)
{
  static char line[8192];
  FILE *file = fopen ("plan", "r");
  const char *found = NULL;

  while (file && !found && fgets (line, sizeof line, file))
    {
      char *space = strchr (line, ' ');
      line[strcspn (line, "\n")] = 0;
      if (!space)
        continue;
      *space = 0;
      if (strcmp (line, name) == 0)
        found = space + 1;
    }
  if (file)
    fclose (file);
  return found;
}

static size_t
planned_bytes (const char *name, uint8_t *bytes, size_t room)
{
  const char *text = planned (name);
  size_t count = 0;
  unsigned byte;

  for (; text && count < room && sscanf (text, "%2x", &byte) == 1; text += 2)
    bytes[count++] = (uint8_t) byte;
  return count;
}

static ESYS_TR
load (const char *public_name, const char *private_name)
{
  uint8_t bytes[4096];
  TPM2B_PUBLIC public_area = { 0 };
  TPM2B_PRIVATE private_area = { 0 };
  ESYS_TR object;
  size_t offset = 0;
  size_t count = planned_bytes (public_name, bytes, sizeof bytes);

  CHECK (Tss2_MU_TPM2B_PUBLIC_Unmarshal (bytes, count, &offset, &public_area));
  offset = 0;
  count = planned_bytes (private_name, bytes, sizeof bytes);
  CHECK (Tss2_MU_TPM2B_PRIVATE_Unmarshal (bytes, count, &offset, &private_area));
  CHECK (Esys_Load (esys, root, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE, &private_area, &public_area, &object));
  return object;
}

static ESYS_TR
start (TPM2_SE kind, TPMA_SESSION attributes)
{
  TPMT_SYM_DEF symmetric = { .algorithm = TPM2_ALG_AES, .keyBits.aes = 128, .mode.aes = TPM2_ALG_CFB };
  ESYS_TR session;

  CHECK (Esys_StartAuthSession (esys, root, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, NULL, kind,
                                &symmetric, TPM2_ALG_SHA256, &session));
  CHECK (Esys_TRSess_SetAttributes (esys, session, attributes, 0xff));
  return session;
}

/* What is the same in each use. */
static void
prepare (void)
{
  unsigned long long number = strtoull (planned ("value"), NULL, 10);

  is_secret = strcmp (planned ("product"), "secret") == 0;
  value.size = 8;
  for (int i = 7; i >= 0; i--, number >>= 8)
    value.buffer[i] = (uint8_t) number;
  branches.digests[0].size = (uint16_t) planned_bytes ("branch0", branches.digests[0].buffer, 32);
  branches.digests[1].size = (uint16_t) planned_bytes ("branch1", branches.digests[1].buffer, 32);
  branches.count = branches.digests[0].size == 32 ? 2 : 0;
}

static void
use (void)
{
  ESYS_TR session = start (TPM2_SE_POLICY, is_secret ? TPMA_SESSION_ENCRYPT : 0);

  CHECK (Esys_PolicySecret (esys, authority, session, asking, ESYS_TR_NONE, ESYS_TR_NONE, NULL, NULL, NULL, 0, NULL,
                            NULL));
  CHECK (Esys_PolicyNV (esys, counter, counter, session, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE, &value, 0,
                        TPM2_EO_EQ));
  if (branches.count > 0)
    CHECK (Esys_PolicyOR (esys, session, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, &branches));
  if (is_secret)
    {
      TPM2B_SENSITIVE_DATA *secret;
      CHECK (Esys_Unseal (esys, item, session, ESYS_TR_NONE, ESYS_TR_NONE, &secret));
      Esys_Free (secret);
    }
  else
    {
      TPM2B_DIGEST digest = { .size = 32 };
      TPMT_SIG_SCHEME scheme = { .scheme = TPM2_ALG_ECDSA, .details.ecdsa.hashAlg = TPM2_ALG_SHA256 };
      TPMT_TK_HASHCHECK ticket = { .tag = TPM2_ST_HASHCHECK, .hierarchy = TPM2_RH_NULL };
      TPMT_SIGNATURE *signature;
      memset (digest.buffer, 7, 32);
      CHECK (Esys_Sign (esys, item, session, ESYS_TR_NONE, ESYS_TR_NONE, &digest, &scheme, &ticket, &signature));
      Esys_Free (signature);
    }
  /* The TPM has ended it; ESAPI keeps an entry until it is told. */
  CHECK (Esys_TR_Close (esys, &session));
}

static long
nanoseconds (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000 + time.tv_nsec;
}

int
main (int count, char **arguments)
{
  TSS2_TCTI_CONTEXT *tcti;
  TPM2B_AUTH auth = { 0 };
  char line[64];

  if (count != 2 || !planned ("product"))
    {
      fprintf (stderr, "usage: release TCTI, where the file plan is\n");
      return 64;
    }
  CHECK (Tss2_TctiLdr_Initialize (arguments[1], &tcti));
  CHECK (Esys_Initialize (&esys, tcti, NULL));
  CHECK (Esys_TR_FromTPMPublic (esys, (TPM2_HANDLE) strtoul (planned ("root"), NULL, 16), ESYS_TR_NONE, ESYS_TR_NONE,
                                ESYS_TR_NONE, &root));
  CHECK (Esys_TR_FromTPMPublic (esys, (TPM2_HANDLE) strtoul (planned ("counter"), NULL, 16), ESYS_TR_NONE,
                                ESYS_TR_NONE, ESYS_TR_NONE, &counter));
  authority = load ("authority_public", "authority_private");
  item = load ("item_public", "item_private");
  auth.size = (uint16_t) planned_bytes ("auth", auth.buffer, 32);
  CHECK (Esys_TR_SetAuth (esys, authority, &auth));
  prepare ();
  asking = start (TPM2_SE_HMAC, TPMA_SESSION_CONTINUESESSION);
  while (fgets (line, sizeof line, stdin))
    {
      long begun = nanoseconds ();
      use ();
      printf ("%ld\n", nanoseconds () - begun);
      fflush (stdout);
    }
  return 0;
}
