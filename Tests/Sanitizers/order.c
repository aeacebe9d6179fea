// SPDX-License-Identifier: Apache-2.0
//
// Tells ThreadSanitizer of three orders that it cannot see, because the libraries that make them are not instrumented:
//
// - Swift's Mutex: the quick way is compiled into whoever uses it; a lock that somebody waits for changes hands inside
//   of libswiftSynchronization and the kernel.
// - Swift's continuations: resuming one releases the task, but a task that comes to wait for one that is resumed already
//   goes on without acquiring itself (swift_continuation_await).
// - GLib's sources: what one thread puts into a source is there for the thread that dispatches it.
//
// It is preloaded by scripts/sanitize (LD_PRELOAD). Without it each contended lock would be reported, and suppressions
// by name would hide real races in the same functions.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

// There are none in programs that are not built for the sanitizer, such as a test's child processes.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

// Synchronization._MutexHandle._lockSlow(UInt32), _unlockSlow(): whoever waits lets the kernel pass the lock on.
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) __asm__(LOCK_SLOW);
SWIFT void unlock_slow(SELF void *mutex) __asm__(UNLOCK_SLOW);

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) {
    static SWIFT void (*next)(uint32_t, SELF void *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, LOCK_SLOW);
    next(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void unlock_slow(SELF void *mutex) {
    static SWIFT void (*next)(SELF void *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, UNLOCK_SLOW);
    if (__tsan_release) __tsan_release(mutex);
    next(mutex);
}

// Each asynchronous function calls it when one that it awaited has returned.
SWIFT void swift_task_dealloc(void *memory) {
    static SWIFT void (*next)(void *);
    static SWIFT void *(*current)(void);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "swift_task_dealloc");
    if (!current) *(void **)&current = dlsym(RTLD_NEXT, "swift_task_getCurrent");
    void *task = current();
    if (__tsan_acquire && task) __tsan_acquire(task);
    next(memory);
}

// The public beginning of a GSource. What another kind of source than these two calls has other parameters.
struct source {
    void *callback_data, *callback_funcs;
    const void *funcs;
};

static int takes_data_alone(const struct source *source) {
    static const void *idle, *timeout;
    if (!idle) idle = dlsym(RTLD_DEFAULT, "g_idle_funcs");
    if (!timeout) timeout = dlsym(RTLD_DEFAULT, "g_timeout_funcs");
    return source->funcs == idle || source->funcs == timeout;
}

typedef int source_function(void *data);
typedef void destroy_notify(void *data);

struct work {
    source_function *function;
    void *data;
    destroy_notify *destroy;
};

static int dispatch(void *work_) {
    struct work *work = work_;
    if (__tsan_acquire) __tsan_acquire(work->data);
    return work->function(work->data);
}

static void destroy(void *work_) {
    struct work *work = work_;
    if (__tsan_acquire) __tsan_acquire(work->data);
    if (work->destroy) work->destroy(work->data);
    free(work);
}

void g_source_set_callback(void *source, source_function *function, void *data, destroy_notify *notify) {
    static void (*next)(void *, source_function *, void *, destroy_notify *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "g_source_set_callback");
    struct work *work = data && takes_data_alone(source) ? malloc(sizeof *work) : 0;
    if (!work) {
        next(source, function, data, notify);
        return;
    }
    *work = (struct work){function, data, notify};
    if (__tsan_release) __tsan_release(data);
    next(source, dispatch, work, destroy);
}
