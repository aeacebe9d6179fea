/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts programs in turns and prints how long each took and how much memory it held at most.
 *
 *   cold RUNS PROGRAM [ARGUMENT…] [-- PROGRAM [ARGUMENT…]]…
 *
 * One line for each program: the median and the 90th percentile of the wall time in microseconds from before fork()
 * to after wait(), then the median of the peak of resident memory in KiB. "Cold" means a new process each time; its
 * files are in the page cache. What the programs print is thrown away. It is in C because a process inherits the peak
 * of the one that started it, and this one's is small.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum
{
  MOST_PROGRAMS = 8,
  MOST_RUNS = 1000,
};

typedef struct
{
  char **arguments;
  long wall[MOST_RUNS], memory[MOST_RUNS];
} Program;

static long
microseconds (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static void
run (Program *program, int turn)
{
  struct rusage usage;
  int status;
  long start = microseconds ();
  pid_t child = fork ();

  if (child == 0)
    {
      int null = open ("/dev/null", O_RDWR);
      dup2 (null, 0);
      dup2 (null, 1);
      execv (program->arguments[0], program->arguments);
      perror (program->arguments[0]);
      _exit (127);
    }
  if (child < 0 || wait4 (child, &status, 0, &usage) != child)
    {
      perror ("cold");
      exit (1);
    }
  if (!WIFEXITED (status) || WEXITSTATUS (status) != 0)
    {
      fprintf (stderr, "cold: error: %s ended with status %d\n", program->arguments[0], status);
      exit (1);
    }
  if (turn < 0)
    return;
  program->wall[turn] = microseconds () - start;
  program->memory[turn] = usage.ru_maxrss;
}

static int
compare (const void *one, const void *other)
{
  long a = *(const long *) one, b = *(const long *) other;

  return (a > b) - (a < b);
}

int
main (int count, char **arguments)
{
  static Program programs[MOST_PROGRAMS];
  int known = 0;
  int runs = count > 2 ? atoi (arguments[1]) : 0;

  if (runs < 1 || runs > MOST_RUNS)
    {
      fprintf (stderr, "usage: cold RUNS PROGRAM [ARGUMENT...] [-- PROGRAM [ARGUMENT...]]...\n");
      return 64;
    }
  programs[known++].arguments = arguments + 2;
  for (int i = 2; i < count; i++)
    if (strcmp (arguments[i], "--") == 0 && known < MOST_PROGRAMS)
      {
        arguments[i] = NULL;
        programs[known++].arguments = arguments + i + 1;
      }
  /* The first turn, which is not counted, brings the files into the page cache. */
  for (int turn = -1; turn < runs; turn++)
    for (int i = 0; i < known; i++)
      run (&programs[i], turn);
  for (int i = 0; i < known; i++)
    {
      qsort (programs[i].wall, runs, sizeof (long), compare);
      qsort (programs[i].memory, runs, sizeof (long), compare);
      printf ("%ld %ld %ld\n", programs[i].wall[runs / 2], programs[i].wall[runs * 9 / 10], programs[i].memory[runs / 2]);
    }
  return 0;
}
