// SPDX-License-Identifier: Apache-2.0

#include "whorl_memory.h"

#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static int give_back_code(struct dl_phdr_info *file, size_t size, void *data)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    (void)size;
    (void)data;
    for (int index = 0; index < file->dlpi_phnum; index += 1) {
        const ElfW(Phdr) *part = &file->dlpi_phdr[index];
        // A part that was never writable is the same in the file.
        if (part->p_type != PT_LOAD || (part->p_flags & PF_W) != 0) {
            continue;
        }
        const uintptr_t start = (file->dlpi_addr + part->p_vaddr + page - 1) & ~(page - 1);
        const uintptr_t end = (file->dlpi_addr + part->p_vaddr + part->p_memsz) & ~(page - 1);
        if (start < end) {
            // Without effect, the memory stays in use.
            (void)madvise((void *)start, end - start, MADV_DONTNEED);
        }
    }
    return 0;
}

void whorl_give_back_memory(void)
{
    malloc_trim(0);
    dl_iterate_phdr(give_back_code, NULL);
}
