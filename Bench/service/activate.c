/* SPDX-License-Identifier: Apache-2.0
 *
 * Listens at a path and, when the first client connects, becomes the program that serves it, as systemd does for a
 * socket unit (sd_listen_fds(3)): the socket is descriptor 3, and LISTEN_PID and LISTEN_FDS say so.
 *
 *   activate PATH PROGRAM [ARGUMENT…]
 *
 * It is in C because what it starts must not pay for this program's own start.
 */

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int
main (int count, char **words)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  struct pollfd waiting = { .events = POLLIN };
  char number[16];
  int listener = socket (AF_UNIX, SOCK_STREAM, 0);

  if (count < 3 || strlen (words[1]) >= sizeof address.sun_path)
    return 64;
  strcpy (address.sun_path, words[1]);
  unlink (words[1]);
  if (listener < 0 || bind (listener, (struct sockaddr *) &address, sizeof address) != 0
      || listen (listener, 128) != 0)
    {
      perror (words[1]);
      return 71;
    }
  waiting.fd = listener;
  if (poll (&waiting, 1, -1) != 1)
    return 71;
  if (listener != 3 && (dup2 (listener, 3) != 3 || close (listener) != 0))
    return 71;
  snprintf (number, sizeof number, "%d", (int) getpid ());
  setenv ("LISTEN_PID", number, 1);
  setenv ("LISTEN_FDS", "1", 1);
  execv (words[2], words + 2);
  perror (words[2]);
  return 127;
}
