// A GPU's failed memory, its place on the bus and beside which processors.
#include "nvml_double.h"

#include <stdio.h>

static nvmlReturn_t ecc(gpu_t *gpu, nvmlMemoryErrorType_t type, nvmlEccCounterType_t counter, unsigned long long *count)
{
    if (gpu->ecc_mode != 1)
        return NVML_ERROR_NOT_SUPPORTED;
    if (counter == NVML_VOLATILE_ECC && type == NVML_MEMORY_ERROR_TYPE_CORRECTED)
        GIVE(count, ecc_corrected_volatile);
    else if (counter == NVML_VOLATILE_ECC)
        GIVE(count, ecc_uncorrected_volatile);
    else if (type == NVML_MEMORY_ERROR_TYPE_CORRECTED)
        GIVE(count, ecc_corrected_aggregate);
    else
        GIVE(count, ecc_uncorrected_aggregate);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t type, nvmlEccCounterType_t counter,
                                         unsigned long long *count)
{
    ENTER(nvmlDeviceGetTotalEccErrors);
    return ecc(gpu, type, counter, count);
}

nvmlReturn_t nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t device, nvmlMemoryErrorType_t type, nvmlEccCounterType_t counter,
                                             nvmlMemoryLocation_t location, unsigned long long *count)
{
    ENTER(nvmlDeviceGetMemoryErrorCounter);
    return location == NVML_MEMORY_LOCATION_DEVICE_MEMORY ? ecc(gpu, type, counter, count) : NVML_ERROR_NOT_SUPPORTED;
}

static nvmlReturn_t retired(gpu_t *gpu, nvmlPageRetirementCause_t cause, unsigned int *count, unsigned long long *pages)
{
    long long number = cause == NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR ? gpu->retired_uncorrected
                                                                                : gpu->retired_corrected;
    if (number == NONE)
        return NVML_ERROR_NOT_SUPPORTED;
    int fits = *count >= number;
    *count = (unsigned int)number;
    if (!fits)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    for (long long page = 0; page < number; page++)
        pages[page] = 0x10000ULL * (unsigned long long)(page + 1);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetRetiredPages(nvmlDevice_t device, nvmlPageRetirementCause_t cause, unsigned int *count,
                                       unsigned long long *pages)
{
    ENTER(nvmlDeviceGetRetiredPages);
    return retired(gpu, cause, count, pages);
}

nvmlReturn_t nvmlDeviceGetRetiredPages_v2(nvmlDevice_t device, nvmlPageRetirementCause_t cause, unsigned int *count,
                                          unsigned long long *pages, unsigned long long *times)
{
    ENTER(nvmlDeviceGetRetiredPages_v2);
    status = retired(gpu, cause, count, pages);
    for (unsigned int page = 0; !status && page < *count; page++)
        times[page] = 1700000000000000ULL;
    return status;
}

nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t device, unsigned int *corrected, unsigned int *uncorrected,
                                       unsigned int *pending, unsigned int *failed)
{
    ENTER(nvmlDeviceGetRemappedRows);
    GIVE(corrected, remapped_corrected);
    GIVE(uncorrected, remapped_uncorrected);
    GIVE(pending, remapped_pending);
    GIVE(failed, remapped_failure);
    return NVML_SUCCESS;
}

void fill_pci(const gpu_t *gpu, nvmlPciInfo_t *pci)
{
    memset(pci, 0, sizeof *pci);
    pci->domain = (unsigned int)gpu->pci_domain;
    pci->bus = (unsigned int)gpu->pci_bus;
    pci->device = (unsigned int)gpu->pci_device;
    pci->pciDeviceId = (unsigned int)gpu->pci_device_id;
    pci->pciSubSystemId = (unsigned int)gpu->pci_subsystem_id;
    snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "%04X:%02X:%02X.0", pci->domain, pci->bus, pci->device);
    snprintf(pci->busId, sizeof pci->busId, NVML_DEVICE_PCI_BUS_ID_FMT, NVML_DEVICE_PCI_BUS_ID_FMT_ARGS(pci));
}

#define PCI(function)                                                                                                  \
    nvmlReturn_t function(nvmlDevice_t device, nvmlPciInfo_t *pci)                                                     \
    {                                                                                                                  \
        ENTER(function);                                                                                               \
        fill_pci(gpu, pci);                                                                                            \
        return NVML_SUCCESS;                                                                                           \
    }
PCI(nvmlDeviceGetPciInfo_v3)

// Older programs' struct ends before busId.
#define PCI_SHORT(function)                                                                                            \
    nvmlReturn_t function(nvmlDevice_t device, nvmlPciInfo_t *pci)                                                     \
    {                                                                                                                  \
        ENTER(function);                                                                                               \
        nvmlPciInfo_t whole;                                                                                           \
        fill_pci(gpu, &whole);                                                                                         \
        memcpy(pci, &whole, offsetof(nvmlPciInfo_t, busId));                                                           \
        return NVML_SUCCESS;                                                                                           \
    }
PCI_SHORT(nvmlDeviceGetPciInfo)
PCI_SHORT(nvmlDeviceGetPciInfo_v2)

nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_t *pci)
{
    ENTER(nvmlDeviceGetPciInfoExt);
    if (pci->version != nvmlPciInfoExt_v1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvmlPciInfo_t whole;
    fill_pci(gpu, &whole);
    pci->domain = whole.domain;
    pci->bus = whole.bus;
    pci->device = whole.device;
    pci->pciDeviceId = whole.pciDeviceId;
    pci->pciSubSystemId = whole.pciSubSystemId;
    pci->baseClass = 3;
    pci->subClass = 2;
    memcpy(pci->busId, whole.busId, sizeof pci->busId);
    return NVML_SUCCESS;
}

static nvmlReturn_t affinity(const gpu_t *gpu, unsigned int size, unsigned long *set)
{
    if (gpu->cpu_first == NONE || gpu->cpu_last == NONE)
        return NVML_ERROR_NOT_SUPPORTED;
    unsigned int bits = 8 * sizeof *set;
    memset(set, 0, size * sizeof *set);
    for (long long cpu = gpu->cpu_first; cpu <= gpu->cpu_last; cpu++)
        if (cpu / bits < size)
            set[cpu / bits] |= 1UL << (cpu % bits);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned int size, unsigned long *set)
{
    ENTER(nvmlDeviceGetCpuAffinity);
    return affinity(gpu, size, set);
}

nvmlReturn_t nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice_t device, unsigned int size, unsigned long *set,
                                                 nvmlAffinityScope_t scope)
{
    (void)scope;
    ENTER(nvmlDeviceGetCpuAffinityWithinScope);
    return affinity(gpu, size, set);
}

nvmlReturn_t nvmlDeviceGetMemoryAffinity(nvmlDevice_t device, unsigned int size, unsigned long *set,
                                         nvmlAffinityScope_t scope)
{
    (void)scope;
    ENTER(nvmlDeviceGetMemoryAffinity);
    if (gpu->numa_node == NONE)
        return NVML_ERROR_NOT_SUPPORTED;
    memset(set, 0, size * sizeof *set);
    set[0] = 1UL << gpu->numa_node;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device, nvmlBAR1Memory_t *bar1)
{
    ENTER(nvmlDeviceGetBAR1MemoryInfo);
    GIVE(&bar1->bar1Total, bar1_total);
    GIVE(&bar1->bar1Used, bar1_used);
    bar1->bar1Free = bar1->bar1Total - bar1->bar1Used;
    return NVML_SUCCESS;
}
