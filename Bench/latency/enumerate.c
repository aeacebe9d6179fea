/* SPDX-License-Identifier: Apache-2.0
 *
 * The least that a program can do with libfprint: look which readers there are.
 */

#include <libfprint-2/fprint.h>
#include <stdio.h>

int
main (void)
{
  g_autoptr(FpContext) context = fp_context_new ();

  fp_context_enumerate (context);
  printf ("%u\n", fp_context_get_devices (context)->len);
  return 0;
}
