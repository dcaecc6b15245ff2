/* The time of day, as many seconds later as the file in DANLU_TEST_CLOCK says: for LD_PRELOAD. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const volatile long long *shift;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("DANLU_TEST_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *shared = mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, file, 0);
    if (shared != MAP_FAILED)
        shift = shared;
    close(file);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int failed = (int)syscall(SYS_clock_gettime, clock, time);
    if (!failed && shift && clock == CLOCK_REALTIME)
        time->tv_sec += *shift;
    return failed;
}
