/* SPDX-License-Identifier: Apache-2.0
 *
 * What Whorl is measured against: a plain client of libfprint, on its asynchronous calls and a main loop.
 *
 * It takes commands on stdin, one at a time, and answers on stdout; `turns` speaks to it. Times are nanoseconds of
 * CLOCK_MONOTONIC, which is the same clock in every process.
 *
 *   gallery N…   ok                        the templates N of the directory are what is compared with, in this order
 *   open         ok
 *   identify     touch, result T T WHO     when the result was known; the template's number, or none, or retry
 *   close        ok
 *   whole        touch, result T E WHO     open, identify and close; E is when the reader was closed
 */

#include <glib-unix.h>
#include <libfprint-2/fprint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *directory;
static FpDevice *device;
static GPtrArray *gallery;
static GArray *numbers; /* of the templates in the gallery */
static gboolean asked;  /* for the finger, in this identification */
static gboolean whole;
static gint64 known_at; /* when the result was */
static char who[16];

static void
die (const char *what, const GError *error)
{
  fprintf (stderr, "identify: error: %s: %s\n", what, error ? error->message : "failed");
  exit (1);
}

static gint64
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return time.tv_sec * G_GINT64_CONSTANT (1000000000) + time.tv_nsec;
}

static void
answer (const char *line)
{
  puts (line);
  fflush (stdout);
}

static void
tell_result (gint64 end)
{
  printf ("result %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %s\n", known_at, end, who);
  fflush (stdout);
}

static void
status_changed (GObject *object, GParamSpec *spec, gpointer data)
{
  if (asked || fp_device_get_finger_status (device) != FP_FINGER_STATUS_NEEDED)
    return;
  asked = TRUE;
  answer ("touch");
}

static void
closed (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr(GError) error = NULL;

  if (!fp_device_close_finish (device, result, &error))
    die ("closing", error);
  if (whole)
    tell_result (now ());
  else
    answer ("ok");
}

static void
identified (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(FpPrint) match = NULL;
  guint index;
  gboolean ended = fp_device_identify_finish (device, result, &match, NULL, &error);

  known_at = now ();
  if (!ended && error->domain != FP_DEVICE_RETRY)
    die ("identifying", error);
  if (!ended)
    g_strlcpy (who, "retry", sizeof who);
  else if (match && g_ptr_array_find (gallery, match, &index))
    g_snprintf (who, sizeof who, "%d", g_array_index (numbers, int, index));
  else
    g_strlcpy (who, "none", sizeof who);
  if (whole)
    fp_device_close (device, NULL, closed, NULL);
  else
    tell_result (known_at);
}

static void
identify (void)
{
  asked = FALSE;
  fp_device_identify (device, gallery, NULL, NULL, NULL, NULL, identified, NULL);
}

static void
opened (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr(GError) error = NULL;

  if (!fp_device_open_finish (device, result, &error))
    die ("opening", error);
  if (whole)
    identify ();
  else
    answer ("ok");
}

static void
load (int number)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *path = g_strdup_printf ("%s/%d", directory, number);
  g_autofree char *bytes = NULL;
  gsize length;
  FpPrint *print;

  if (!g_file_get_contents (path, &bytes, &length, &error))
    die ("reading a template", error);
  print = fp_print_deserialize ((const guchar *) bytes, length, &error);
  if (!print)
    die ("reading a template", error);
  g_ptr_array_add (gallery, print);
  g_array_append_val (numbers, number);
}

static gboolean
command (gint descriptor, GIOCondition condition, gpointer loop)
{
  char line[256];
  char *word, *rest;

  if (!fgets (line, sizeof line, stdin))
    {
      g_main_loop_quit (loop);
      return G_SOURCE_REMOVE;
    }
  word = strtok_r (line, " \n", &rest);
  whole = g_strcmp0 (word, "whole") == 0;
  if (g_strcmp0 (word, "gallery") == 0)
    {
      g_ptr_array_set_size (gallery, 0);
      g_array_set_size (numbers, 0);
      while ((word = strtok_r (NULL, " \n", &rest)))
        load (atoi (word));
      answer ("ok");
    }
  else if (whole || g_strcmp0 (word, "open") == 0)
    fp_device_open (device, NULL, opened, NULL);
  else if (g_strcmp0 (word, "identify") == 0)
    identify ();
  else if (g_strcmp0 (word, "close") == 0)
    fp_device_close (device, NULL, closed, NULL);
  else
    die ("an unknown command", NULL);
  return G_SOURCE_CONTINUE;
}

int
main (int count, char **arguments)
{
  g_autoptr(FpContext) context = fp_context_new ();
  g_autoptr(GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  GPtrArray *devices = fp_context_get_devices (context);

  if (count != 2 || devices->len != 1)
    {
      fprintf (stderr, "usage: FP_VIRTUAL_IMAGE=SOCKET identify DIRECTORY\n");
      return 64;
    }
  directory = arguments[1];
  device = g_ptr_array_index (devices, 0);
  gallery = g_ptr_array_new_with_free_func (g_object_unref);
  numbers = g_array_new (FALSE, FALSE, sizeof (int));
  setvbuf (stdin, NULL, _IONBF, 0);
  g_signal_connect (device, "notify::finger-status", G_CALLBACK (status_changed), NULL);
  g_unix_fd_add (0, G_IO_IN | G_IO_HUP, command, loop);
  g_main_loop_run (loop);
  return 0;
}
