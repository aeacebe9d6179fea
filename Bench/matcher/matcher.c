/* SPDX-License-Identifier: Apache-2.0
 *
 * How libfprint's matcher treats synthetic fingers, through its virtual image reader.
 *
 * Reads pictures from stdin, as `presses` writes them, and prints a table: how many presses of an enrolled
 * finger match, how many match a finger that they are not of, and how identifying grows with the gallery.
 */

#include <errno.h>
#include <libfprint-2/fprint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum
{
  WIDTH = 192,
  HEIGHT = 256,
  ENROLLED = 5,  /* presses 0..4: the stages of libfprint's enrollment */
  NORMAL = 5,    /* presses 5..9 */
  CAREFUL = 10,
  HARD = 11,
  PARTIAL = 12,
  PRESSES = 13,
  MAX_FINGERS = 1000,
  GALLERY = 50,         /* prints that a stranger is compared with */
  IMPOSTORS = 10000,    /* comparisons asked for */
  SCALING_PROBES = 40,  /* identifications for each gallery size */
};

/* A picture as the reader's socket takes it: width and height, then the pixels. */
typedef struct
{
  gint32 size[2];
  guint8 pixels[WIDTH * HEIGHT];
} Picture;

typedef struct
{
  FpPrint *print;
  Picture *presses; /* PRESSES of them */
} Finger;

typedef struct
{
  int tried, matched, refused, retried;
} Tally;

static FpDevice *device;
static int client = -1;
static const Picture *queue; /* what is to be sent, one picture each time that a finger is asked for */
static int queued;
static Finger fingers[MAX_FINGERS];
static int finger_count;

static void
die (const char *what, const char *why)
{
  fprintf (stderr, "matcher: error: %s: %s\n", what, why);
  exit (1);
}

/* --- the reader --- */

static void
connect_client (const char *path)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };

  g_strlcpy (address.sun_path, path, sizeof address.sun_path);
  client = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (client < 0 || connect (client, (struct sockaddr *) &address, sizeof address) != 0)
    die ("connecting to the virtual reader", g_strerror (errno));
}

/* A picture fits into the socket's buffer, so this does not block the loop that will read it. */
static void
finger_asked_for (GObject *object, GParamSpec *spec, gpointer data)
{
  const char *bytes = (const char *) queue;
  size_t left = sizeof (Picture);

  if (fp_device_get_finger_status (device) != FP_FINGER_STATUS_NEEDED || queued == 0)
    return;
  while (left > 0)
    {
      ssize_t sent = send (client, bytes, left, MSG_NOSIGNAL);
      if (sent < 0)
        die ("sending a picture", g_strerror (errno));
      bytes += sent;
      left -= sent;
    }
  queue++;
  queued--;
}

static void
put (const Picture *pictures, int count)
{
  queue = pictures;
  queued = count;
}

static FpPrint *
enroll (const Picture *presses)
{
  g_autoptr(GError) error = NULL;
  FpPrint *print;

  put (presses, ENROLLED);
  print = fp_device_enroll_sync (device, fp_print_new (device), NULL, NULL, NULL, &error);
  if (print == NULL)
    die ("enrolling", error->message);
  return print;
}

/* The index of the print that a press matches, -1 if none, -2 if libfprint wants another press. */
static int
identify (GPtrArray *gallery, const Picture *press, double *seconds)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(FpPrint) match = NULL;
  gint64 start = g_get_monotonic_time ();
  guint index;

  put (press, 1);
  if (!fp_device_identify_sync (device, gallery, NULL, NULL, NULL, &match, NULL, &error))
    {
      if (error->domain == FP_DEVICE_RETRY)
        return -2;
      die ("identifying", error->message);
    }
  if (seconds)
    *seconds = (g_get_monotonic_time () - start) / 1e6;
  if (match == NULL)
    return -1;
  if (!g_ptr_array_find (gallery, match, &index))
    die ("identifying", "a print that is not in the gallery");
  return (int) index;
}

/* --- what is measured --- */

static void
count (Tally *tally, int outcome)
{
  tally->tried++;
  if (outcome >= 0)
    tally->matched++;
  else if (outcome == -1)
    tally->refused++;
  else
    tally->retried++;
}

static void
print_tally (const char *name, const Tally *tally)
{
  printf ("  %-9s %6d %8d %8d %8d   %6.2f %%\n", name, tally->tried, tally->matched, tally->refused,
          tally->retried, 100.0 * (tally->tried - tally->matched) / tally->tried);
}

/* Takes the fingers from stdin, enrolls each and tries its other presses on it. */
static void
genuine (void)
{
  Tally normal = { 0 }, careful = { 0 }, hard = { 0 }, partial = { 0 }, blank = { 0 };
  Picture *white = g_new0 (Picture, 1);

  white->size[0] = WIDTH;
  white->size[1] = HEIGHT;
  memset (white->pixels, 255, sizeof white->pixels);

  while (finger_count < MAX_FINGERS)
    {
      Finger *finger = &fingers[finger_count];
      g_autoptr(GPtrArray) own = g_ptr_array_new ();

      finger->presses = g_new0 (Picture, PRESSES);
      for (int i = 0; i < PRESSES; i++)
        {
          Picture *press = &finger->presses[i];
          press->size[0] = WIDTH;
          press->size[1] = HEIGHT;
          if (fread (press->pixels, sizeof press->pixels, 1, stdin) != 1)
            {
              if (i > 0 || ferror (stdin))
                die ("reading pictures", "the input ends amid a finger");
              goto done;
            }
        }
      finger->print = enroll (finger->presses);
      finger_count++;

      g_ptr_array_add (own, finger->print);
      for (int i = NORMAL; i < CAREFUL; i++)
        count (&normal, identify (own, &finger->presses[i], NULL));
      count (&careful, identify (own, &finger->presses[CAREFUL], NULL));
      count (&hard, identify (own, &finger->presses[HARD], NULL));
      count (&partial, identify (own, &finger->presses[PARTIAL], NULL));
      count (&blank, identify (own, white, NULL));
    }
done:
  if (finger_count < 2)
    die ("reading pictures", "fewer than two fingers");

  printf ("Presses of the enrolled finger (%d fingers, %d normal presses enrolled)\n", finger_count,
          ENROLLED);
  printf ("  press      tried  matched  refused    retry   no match\n");
  print_tally ("normal", &normal);
  print_tally ("careful", &careful);
  print_tally ("hard", &hard);
  print_tally ("partial", &partial);
  print_tally ("blank", &blank);
  fflush (stdout);
}

/* The prints of the `size` fingers that follow `finger`, never its own. */
static GPtrArray *
others (int finger, int size)
{
  GPtrArray *gallery = g_ptr_array_new ();

  for (int i = 1; i <= size; i++)
    g_ptr_array_add (gallery, fingers[(finger + i) % finger_count].print);
  return gallery;
}

/* Each finger against a gallery of others. An identification ends at a match; what follows is not counted. */
static void
impostors (void)
{
  int size = MIN (GALLERY, finger_count - 1);
  int presses = MIN (PARTIAL - NORMAL, IMPOSTORS / (size * finger_count) + 1);
  long compared = 0, matched = 0;

  for (int finger = 0; finger < finger_count; finger++)
    {
      g_autoptr(GPtrArray) gallery = others (finger, size);
      for (int press = NORMAL; press < NORMAL + presses; press++)
        {
          int outcome = identify (gallery, &fingers[finger].presses[press], NULL);
          compared += outcome >= 0 ? outcome + 1 : outcome == -1 ? size : 0;
          if (outcome >= 0)
            {
              matched++;
              printf ("  finger %d, press %d matched finger %d\n", finger, press,
                      (finger + 1 + outcome) % finger_count);
            }
        }
    }
  printf ("\nPresses of another finger, each against %d prints of %d templates\n", size, ENROLLED);
  printf ("  compared  matched   false match\n");
  printf ("  %8ld %8ld   %.4f %%\n", compared, matched, 100.0 * matched / compared);
  fflush (stdout);
}

static int
by_size (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

static double
median (double *values, int count)
{
  qsort (values, count, sizeof *values, by_size);
  return values[count / 2];
}

/* How long an identification takes, and how often a stranger gets in, as the gallery grows. */
static void
scaling (void)
{
  static const int sizes[] = { 1, 10, 50, 100 };

  printf ("\nIdentification, milliseconds from the start of the scan, the finger lying ready (%d each)\n",
          SCALING_PROBES);
  printf ("  enrolled   stranger: median      max   let in   owner: listed first   listed last\n");
  for (size_t s = 0; s < G_N_ELEMENTS (sizes); s++)
    {
      int size = sizes[s], let_in = 0;
      double stranger[SCALING_PROBES], first[SCALING_PROBES], last[SCALING_PROBES];

      if (size >= finger_count)
        break;
      for (int probe = 0; probe < SCALING_PROBES; probe++)
        {
          int finger = probe * 7 % finger_count;
          const Picture *press = &fingers[finger].presses[NORMAL];
          g_autoptr(GPtrArray) gallery = others (finger, size);

          let_in += identify (gallery, press, &stranger[probe]) >= 0;
          g_ptr_array_index (gallery, 0) = fingers[finger].print;
          identify (gallery, press, &first[probe]);
          g_ptr_array_index (gallery, 0) = fingers[(finger + 1) % finger_count].print;
          g_ptr_array_index (gallery, size - 1) = fingers[finger].print;
          identify (gallery, press, &last[probe]);
        }
      double middle = median (stranger, SCALING_PROBES);
      printf ("  %8d %18.0f %8.0f %8d %21.0f %13.0f\n", size, 1e3 * middle, 1e3 * stranger[SCALING_PROBES - 1],
              let_in, 1e3 * median (first, SCALING_PROBES), 1e3 * median (last, SCALING_PROBES));
      fflush (stdout);
    }
}

/* libfprint warns of each blank press; the table counts them. */
static void
ignore_log (const char *domain, GLogLevelFlags level, const char *text, gpointer data)
{
  if (level & (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_ERROR))
    fprintf (stderr, "matcher: %s: %s\n", domain ? domain : "", text);
}

int
main (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(FpContext) context = NULL;
  g_autofree char *directory = g_dir_make_tmp ("matcher-XXXXXX", &error);
  g_autofree char *path = NULL;
  gint64 start = g_get_monotonic_time ();
  GPtrArray *devices;

  if (directory == NULL)
    die ("making a directory", error->message);
  path = g_build_filename (directory, "reader", NULL);
  g_setenv ("FP_VIRTUAL_IMAGE", path, TRUE);
  g_log_set_default_handler (ignore_log, NULL);

  context = fp_context_new ();
  devices = fp_context_get_devices (context);
  for (guint i = 0; i < devices->len && device == NULL; i++)
    if (strcmp (fp_device_get_driver (devices->pdata[i]), "virtual_image") == 0)
      device = devices->pdata[i];
  if (device == NULL)
    die ("looking for the virtual image reader", "this libfprint has none");
  if (!fp_device_open_sync (device, NULL, &error))
    die ("opening the virtual reader", error->message);
  connect_client (path);
  g_signal_connect (device, "notify::finger-status", G_CALLBACK (finger_asked_for), NULL);

  genuine ();
  impostors ();
  scaling ();
  printf ("\n%.0f seconds\n", (g_get_monotonic_time () - start) / 1e6);

  fp_device_close_sync (device, NULL, NULL);
  close (client);
  unlink (path);
  rmdir (directory);
  return 0;
}
