// What both libraries share.
#pragma once
#include "layout.h"

#include <stddef.h>

#define HANG_DEAF 2

// The control file of $NVML_DOUBLE_CONTROL; NULL where there is none.
control_t *control(void);

// Count a call, then wait, hang or fail as the control file says for this GPU's slot, or MAX_GPUS for a call without one.
int act(int function, int slot);

// The same for a GPU of a call that was counted already.
int again(int function, int slot);

// The wall clock.
double seconds(void);

// While animated: how busy a GPU is now, 0 to 1, and the integral of that since the start, in seconds.
double load(int slot);
double load_so_far(int slot);
