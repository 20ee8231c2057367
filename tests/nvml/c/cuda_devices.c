// Which devices a process sees, in which order, and what they are.
//
// The rules are those of the CUDA programming guide's "CUDA Environment Variables" and the MIG user guide's "Device
// Enumeration"; what a repeated or half numeric entry does is what people measured on drivers and PyTorch and nvitop
// follow: a repetition leaves no device at all, and numbers are read as strtol reads them.
#include "cuda_double.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static visible_t devices[MAX_GPUS];
static int count = -1; // before cuInit

int device_count(void)
{
    return count;
}

const visible_t *visible(CUdevice device)
{
    return &devices[device];
}

static int by_bus(const void *one, const void *other)
{
    const gpu_t *a = &control()->gpu[*(const int *)one], *b = &control()->gpu[*(const int *)other];
    if (a->pci_domain != b->pci_domain)
        return a->pci_domain < b->pci_domain ? -1 : 1;
    if (a->pci_bus != b->pci_bus)
        return a->pci_bus < b->pci_bus ? -1 : 1;
    return (a->pci_device > b->pci_device) - (a->pci_device < b->pci_device);
}

static int by_speed(const void *one, const void *other)
{
    const gpu_t *a = &control()->gpu[*(const int *)one], *b = &control()->gpu[*(const int *)other];
    if (a->cuda_speed != b->cuda_speed)
        return a->cuda_speed > b->cuda_speed ? -1 : 1;
    return by_bus(one, other);
}

// The GPUs' slots in the order in which CUDA counts them.
static int enumerate(int *slots)
{
    int found = 0;
    for (int slot = 0; slot < control()->gpus; slot++)
        if (!control()->gpu[slot].removed && !control()->gpu[slot].fault)
            slots[found++] = slot;
    const char *order = getenv("CUDA_DEVICE_ORDER");
    int by_pci = order && !strcmp(order, "PCI_BUS_ID");
    qsort(slots, (size_t)found, sizeof *slots, by_pci ? by_bus : by_speed);
    return found;
}

static int splits(const gpu_t *gpu)
{
    return gpu->mig_mode == 1 && gpu->instance_count > 0;
}

// The position of the only GPU whose UUID begins so; -1 where there is none or several.
static int by_prefix(const char *text, size_t length, const int *slots, int found)
{
    int position = -1;
    for (int at = 0; at < found; at++) {
        if (strncasecmp(control()->gpu[slots[at]].uuid, text, length))
            continue;
        if (position >= 0)
            return -1;
        position = at;
    }
    return position;
}

// MIG-<uuid>, or MIG-GPU-<uuid>/<gpu instance>/<compute instance>.
static int find_instance(const char *entry, const int *slots, int found, visible_t *device)
{
    int gpu_instance = -1, compute_instance = -1;
    size_t parent_length = strcspn(entry, "/") - 4;
    int old = !strncmp(entry, "MIG-GPU-", 8) &&
              sscanf(entry + strcspn(entry, "/"), "/%d/%d", &gpu_instance, &compute_instance) == 2;
    int parent = old ? by_prefix(entry + 4, parent_length, slots, found) : -1;
    for (int at = 0; at < found; at++) {
        const gpu_t *gpu = &control()->gpu[slots[at]];
        if (!splits(gpu) || (old && at != parent))
            continue;
        for (int number = 0; number < gpu->instance_count; number++) {
            const instance_t *instance = &gpu->instances[number];
            int same = old ? instance->gpu_instance == gpu_instance && instance->compute_instance == compute_instance
                           : !strncasecmp(instance->uuid, entry, strlen(entry));
            if (same) {
                *device = (visible_t){slots[at], number};
                return 1;
            }
        }
    }
    return 0;
}

// The position that an entry names; -1 where it names none, which ends the list.
static int position_of(const char *entry, char kind, const int *slots, int found)
{
    if (kind == 'G')
        return strncmp(entry, "GPU-", 4) ? -1 : by_prefix(entry, strlen(entry), slots, found);
    char *end;
    long number = strtol(entry, &end, 10);
    return end == entry || number < 0 || number >= found ? -1 : (int)number;
}

static void see(visible_t device)
{
    devices[count++] = device;
}

static void see_listed(const char *list, const int *slots, int found)
{
    char *copy = strdup(list), *rest = copy, *entry;
    // The first entry's kind holds for all: indices, UUIDs, or an instance of MIG, of which one alone can be seen.
    char kind = !strncmp(list, "GPU-", 4) ? 'G' : !strncmp(list, "MIG-", 4) ? 'M' : 'I';
    int taken[MAX_GPUS] = {0};
    while ((entry = strsep(&rest, ","))) {
        visible_t device;
        if (kind == 'M') {
            if (find_instance(entry, slots, found, &device))
                see(device);
            break;
        }
        int position = position_of(entry, kind, slots, found);
        if (position < 0)
            break;
        if (taken[position]++) {
            count = 0;
            break;
        }
        see((visible_t){slots[position], -1});
    }
    free(copy);
}

// One instance of MIG is all that a process sees, and no whole GPU beside it.
static void settle_instances(void)
{
    for (int at = 0; at < count; at++)
        if (devices[at].instance >= 0 || splits(&control()->gpu[devices[at].slot])) {
            devices[0] = (visible_t){devices[at].slot, devices[at].instance < 0 ? 0 : devices[at].instance};
            count = 1;
            return;
        }
}

CUresult cuInit(unsigned int flags)
{
    if (!control())
        return CUDA_ERROR_NO_DEVICE;
    CUresult status = act(F_cuInit, MAX_GPUS);
    if (status)
        return status;
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (count >= 0)
        return CUDA_SUCCESS;
    int slots[MAX_GPUS], found = enumerate(slots);
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    count = 0;
    if (list)
        see_listed(list, slots, found);
    else
        for (int at = 0; at < found; at++)
            see((visible_t){slots[at], -1});
    settle_instances();
    if (count)
        return CUDA_SUCCESS;
    count = -1;
    return CUDA_ERROR_NO_DEVICE;
}

CUresult enter(int function)
{
    if (count < 0)
        return CUDA_ERROR_NOT_INITIALIZED;
    return act(function, MAX_GPUS);
}

CUresult enter_device(int function, CUdevice device, const gpu_t **gpu)
{
    if (count < 0)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (device < 0 || device >= count)
        return CUDA_ERROR_INVALID_DEVICE;
    *gpu = &control()->gpu[devices[device].slot];
    return act(function, devices[device].slot);
}

#define ENTER_DEVICE(function)                                                                                         \
    const gpu_t *gpu;                                                                                                  \
    CUresult status = enter_device(F_##function, device, &gpu);                                                        \
    if (status)                                                                                                        \
        return status

CUresult cuDriverGetVersion(int *version)
{
    if (!control())
        return CUDA_ERROR_NO_DEVICE;
    CUresult status = act(F_cuDriverGetVersion, MAX_GPUS);
    if (!status)
        *version = (int)control()->cuda_version;
    return status;
}

CUresult cuDeviceGetCount(int *number)
{
    CUresult status = enter(F_cuDeviceGetCount);
    if (!status)
        *number = count;
    return status;
}

CUresult cuDeviceGet(CUdevice *handle, int ordinal)
{
    CUdevice device = ordinal;
    ENTER_DEVICE(cuDeviceGet);
    *handle = device;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    ENTER_DEVICE(cuDeviceGetName);
    if (length < 1)
        return CUDA_ERROR_INVALID_VALUE;
    int instance = devices[device].instance;
    snprintf(name, (size_t)length, "%s", instance < 0 ? gpu->name : gpu->instances[instance].name);
    return CUDA_SUCCESS;
}

static void fill_uuid(const char *text, CUuuid *uuid)
{
    // After "GPU-" or "MIG-": 32 hexadecimal digits with hyphens between.
    int digits = 0;
    memset(uuid, 0, sizeof *uuid);
    for (const char *at = text + 4; *at && digits < 32; at++) {
        if (*at == '-')
            continue;
        int value = *at <= '9' ? *at - '0' : (*at | 32) - 'a' + 10;
        uuid->bytes[digits / 2] |= (char)(digits % 2 ? value : value << 4);
        digits++;
    }
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    ENTER_DEVICE(cuDeviceGetUuid);
    fill_uuid(gpu->uuid, uuid);
    return CUDA_SUCCESS;
}

// The newer call gives an instance's own.
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    ENTER_DEVICE(cuDeviceGetUuid_v2);
    int instance = devices[device].instance;
    fill_uuid(instance < 0 ? gpu->uuid : gpu->instances[instance].uuid, uuid);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice device)
{
    ENTER_DEVICE(cuDeviceGetPCIBusId);
    if (length < 13)
        return CUDA_ERROR_INVALID_VALUE;
    snprintf(text, (size_t)length, "%04X:%02X:%02X.0", (int)gpu->pci_domain, (int)gpu->pci_bus, (int)gpu->pci_device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *text)
{
    CUresult status = enter(F_cuDeviceGetByPCIBusId);
    if (status)
        return status;
    unsigned int domain, bus, number;
    if (sscanf(text, "%x:%x:%x", &domain, &bus, &number) != 3)
        return CUDA_ERROR_INVALID_VALUE;
    for (int at = 0; at < count; at++) {
        const gpu_t *gpu = &control()->gpu[devices[at].slot];
        if (gpu->pci_domain == domain && gpu->pci_bus == bus && gpu->pci_device == number) {
            *device = at;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_DEVICE;
}

static size_t total_of(CUdevice device)
{
    const gpu_t *gpu = &control()->gpu[devices[device].slot];
    int instance = devices[device].instance;
    return (size_t)(instance < 0 ? gpu->memory_total : gpu->instances[instance].memory_total);
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    ENTER_DEVICE(cuDeviceTotalMem);
    *bytes = total_of(device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    ENTER_DEVICE(cuDeviceTotalMem_v2);
    *bytes = total_of(device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    ENTER_DEVICE(cuDeviceComputeCapability);
    *major = (int)gpu->compute_major;
    *minor = (int)gpu->compute_minor;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
    ENTER_DEVICE(cuDeviceGetAttribute);
    int instance = devices[device].instance;
    switch (attribute) {
    case 1: // threads a block
        *value = 1024;
        break;
    case 13: // kHz
        *value = (int)gpu->clock_sm_max * 1000;
        break;
    case 16: // multiprocessors
        *value = (int)(instance < 0 ? gpu->multiprocessors : gpu->instances[instance].multiprocessors);
        break;
    case 20:
        *value = (int)gpu->compute_mode;
        break;
    case 33:
        *value = (int)gpu->pci_bus;
        break;
    case 34:
        *value = (int)gpu->pci_device;
        break;
    case 36: // kHz
        *value = (int)gpu->clock_memory_max * 1000;
        break;
    case 37:
        *value = (int)gpu->memory_bus_width;
        break;
    case 40: // copy engines
        *value = 3;
        break;
    case 41: // one address space
        *value = 1;
        break;
    case 50:
        *value = (int)gpu->pci_domain;
        break;
    case 75:
        *value = (int)gpu->compute_major;
        break;
    case 76:
        *value = (int)gpu->compute_minor;
        break;
    default:
        *value = 0;
    }
    return CUDA_SUCCESS;
}

static int reaches(CUdevice device, CUdevice peer, int kind)
{
    // An instance of MIG reaches none.
    if (device == peer || devices[device].instance >= 0 || devices[peer].instance >= 0)
        return 0;
    return control()->gpu[devices[device].slot].p2p[devices[peer].slot][kind] == 0;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    ENTER_DEVICE(cuDeviceCanAccessPeer);
    if (peer < 0 || peer >= count)
        return CUDA_ERROR_INVALID_DEVICE;
    *can = reaches(device, peer, 0);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int *value, int attribute, CUdevice device, CUdevice peer)
{
    ENTER_DEVICE(cuDeviceGetP2PAttribute);
    if (peer < 0 || peer >= count || peer == device)
        return CUDA_ERROR_INVALID_DEVICE;
    switch (attribute) {
    case 1: // rank
        *value = !reaches(device, peer, 2);
        return CUDA_SUCCESS;
    case 2:
        *value = reaches(device, peer, 0);
        return CUDA_SUCCESS;
    case 3: // native atomics
        *value = reaches(device, peer, 3);
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static const struct {
    CUresult status;
    const char *name, *text;
} errors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"},
    {CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

CUresult cuGetErrorName(CUresult error, const char **name)
{
    *name = NULL;
    for (size_t at = 0; at < sizeof errors / sizeof *errors; at++)
        if (errors[at].status == error)
            *name = errors[at].name;
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    *text = NULL;
    for (size_t at = 0; at < sizeof errors / sizeof *errors; at++)
        if (errors[at].status == error)
            *text = errors[at].text;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
