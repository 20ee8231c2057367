// The control file, and what every call does first: count, wait, hang, fail.
#include "shared.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

control_t *control(void)
{
    static control_t *mapped;
    if (mapped)
        return mapped;
    const char *path = getenv("NVML_DOUBLE_CONTROL");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
        return NULL;
    void *memory = mmap(NULL, sizeof(control_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED || ((control_t *)memory)->magic != MAGIC)
        return NULL;
    return mapped = memory;
}

static int hangs(const function_t *how, int slot)
{
    const volatile int *hang = how->hang;
    return hang[slot] ? hang[slot] : hang[MAX_GPUS];
}

int act(int function, int slot)
{
    function_t *how = &control()->function[function];
    __atomic_add_fetch(&how->calls, 1, __ATOMIC_RELAXED);
    if (how->delay_microseconds > 0)
        usleep((useconds_t)how->delay_microseconds);
    return again(function, slot);
}

int again(int function, int slot)
{
    const function_t *how = &control()->function[function];
    if (hangs(how, slot) == HANG_DEAF) {
        // As near to a call stuck in the kernel as a library gets: only SIGKILL ends it.
        signal(SIGTERM, SIG_IGN);
        signal(SIGINT, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
    }
    while (hangs(how, slot))
        usleep(2000);
    return how->fault[slot] ? how->fault[slot] : how->fault[MAX_GPUS];
}

double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double pace(int slot)
{
    return 2 * 3.14159265358979 / (20 + 3 * slot);
}

double load(int slot)
{
    return 0.5 + 0.45 * sin(pace(slot) * (seconds() - control()->started) + slot);
}

double load_so_far(int slot)
{
    double passed = seconds() - control()->started;
    return 0.5 * passed + 0.45 * (cos(slot) - cos(pace(slot) * passed + slot)) / pace(slot);
}
