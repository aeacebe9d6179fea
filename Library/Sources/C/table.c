/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of contexts. Its storage is fixed, so an invalid number is recognized without accessing freed memory, and
 * no allocation outlives its context. */
#include "library.h"

enum { SLOTS = 1024, INDEX = SLOTS - 1 };

/* The state of a slot counts how often the slot was taken, which together with the index makes the context's number.
 * Bit 0 says whether the slot is taken now, and bit 1 whether a thread is in a call. */
enum { TAKEN = 1, ENTERED = 2, STEP = 4 };

static struct slot {
    uint64_t state;
    void *object;
    int process;
} slots[SLOTS];

static whorl_context name(uint64_t state, unsigned index) { return (state / STEP) * SLOTS + index; }

whorl_context table_add(void *object) {
    for (unsigned index = 0; index < SLOTS; index++) {
        uint64_t state = __atomic_load_n(&slots[index].state, __ATOMIC_ACQUIRE);
        if (state & (TAKEN | ENTERED)) continue;
        /* While the slot is entered, only this call can use it. */
        uint64_t taken = (state & ~(uint64_t)3) + STEP;
        if (!__atomic_compare_exchange_n(&slots[index].state, &state, taken | TAKEN | ENTERED, 0, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED)) continue;
        slots[index].object = object;
        slots[index].process = (int)getpid();
        __atomic_store_n(&slots[index].state, taken | TAKEN, __ATOMIC_RELEASE);
        return name(taken, index);
    }
    return 0;
}

int table_enter(whorl_context context, void **object) {
    struct slot *slot = &slots[context & INDEX];
    uint64_t state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
    if (!(state & TAKEN) || name(state, (unsigned)(context & INDEX)) != context) return WHORL_INVALID_CONTEXT;
    uint64_t idle = state & ~(uint64_t)ENTERED;
    if (!__atomic_compare_exchange_n(&slot->state, &idle, idle | ENTERED, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        /* If a thread of the parent was in a call, that thread does not exist in the child. */
        return slot->process == (int)getpid() ? WHORL_BUSY : WHORL_FORKED;
    }
    *object = slot->object;
    if (slot->process == (int)getpid()) return WHORL_OK;
    return WHORL_FORKED;
}

void table_leave(whorl_context context) {
    __atomic_and_fetch(&slots[context & INDEX].state, ~(uint64_t)ENTERED, __ATOMIC_RELEASE);
}

void table_remove(whorl_context context) {
    struct slot *slot = &slots[context & INDEX];
    slot->object = NULL;
    __atomic_and_fetch(&slot->state, ~(uint64_t)(TAKEN | ENTERED), __ATOMIC_RELEASE);
}

/* Closes the contexts that are still open when the program unloads the library or exits. */
__attribute__((destructor)) static void unload(void) {
    for (unsigned index = 0; index < SLOTS; index++) {
        void *object = NULL;
        uint64_t state = __atomic_load_n(&slots[index].state, __ATOMIC_ACQUIRE);
        if (!(state & TAKEN)) continue;
        whorl_context context = name(state, index);
        if (table_enter(context, &object) != WHORL_OK) continue;
        table_remove(context);
        library_drop(object);
    }
}
