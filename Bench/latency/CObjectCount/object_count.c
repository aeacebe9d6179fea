/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts GObjects by their type.
 *
 * GLib's own counter (GOBJECT_DEBUG=instance-count) is there only in builds of GLib with G_ENABLE_DEBUG, which
 * distributions do not ship. But every object passes through two functions of its class: `constructor`, which makes
 * it, and `finalize`. The class of GObject gets counting ones before any other class copies them; a type that has
 * its own must call these, since there is no other way to make an object or to end one.
 */

#include "object_count.h"

#include <gio/gio.h>

enum
{
  MOST_TYPES = 256,
};

typedef struct
{
  GType type;
  long made, live;
} Count;

static GMutex lock;
static Count counts[MOST_TYPES];
static GObject *(*plain_constructor) (GType, guint, GObjectConstructParam *);
static void (*plain_finalize) (GObject *);

static void
count (GObject *object, int made, int live)
{
  GType type = G_OBJECT_TYPE (object);

  g_mutex_lock (&lock);
  for (int i = 0; i < MOST_TYPES; i++)
    if (counts[i].type == 0 || counts[i].type == type)
      {
        counts[i].type = type;
        counts[i].made += made;
        counts[i].live += live;
        break;
      }
  g_mutex_unlock (&lock);
}

static GObject *
counting_constructor (GType type, guint property_count, GObjectConstructParam *properties)
{
  GObject *object = plain_constructor (type, property_count, properties);

  count (object, 1, 1);
  return object;
}

static void
counting_finalize (GObject *object)
{
  count (object, 0, -1);
  plain_finalize (object);
}

void
object_count_begin (void)
{
  GObjectClass *class = g_type_class_ref (G_TYPE_OBJECT);

  plain_constructor = class->constructor;
  plain_finalize = class->finalize;
  class->constructor = counting_constructor;
  class->finalize = counting_finalize;
}

static Count
sum (const char *name)
{
  Count sum = { 0 };

  g_mutex_lock (&lock);
  for (int i = 0; i < MOST_TYPES && counts[i].type; i++)
    if (!name || g_str_equal (g_type_name (counts[i].type), name))
      {
        sum.made += counts[i].made;
        sum.live += counts[i].live;
      }
  g_mutex_unlock (&lock);
  return sum;
}

long
object_count_live (const char *type)
{
  return sum (type).live;
}

long
object_count_made (const char *type)
{
  return sum (type).made;
}
