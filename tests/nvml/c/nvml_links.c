// Between GPUs: NVLink, topology, peer access.
#include "nvml_double.h"

#include <stdio.h>

#define ENTER_LINK(function)                                                                                           \
    ENTER(function);                                                                                                   \
    if (!gpu->link_count)                                                                                              \
        return NVML_ERROR_NOT_SUPPORTED;                                                                               \
    if (link >= (unsigned long long)gpu->link_count)                                                                   \
        return NVML_ERROR_INVALID_ARGUMENT

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link, nvmlEnableState_t *active)
{
    ENTER_LINK(nvmlDeviceGetNvLinkState);
    *active = gpu->link_up[link] ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned int link, unsigned int *version)
{
    ENTER_LINK(nvmlDeviceGetNvLinkVersion);
    if (gpu->nvlink_version == NONE)
        return NVML_ERROR_NOT_SUPPORTED;
    *version = (unsigned int)gpu->nvlink_version;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkCapability(nvmlDevice_t device, unsigned int link, nvmlNvLinkCapability_t capability,
                                           unsigned int *has)
{
    ENTER_LINK(nvmlDeviceGetNvLinkCapability);
    *has = capability == NVML_NVLINK_CAP_P2P_SUPPORTED || capability == NVML_NVLINK_CAP_VALID;
    return NVML_SUCCESS;
}

static nvmlReturn_t remote(const gpu_t *gpu, unsigned int link, nvmlPciInfo_t *pci)
{
    if (!gpu->link_up[link] || gpu->link_peer[link] == NOT_CONNECTED)
        return NVML_ERROR_NOT_SUPPORTED;
    if (gpu->link_peer[link] != SWITCH) {
        fill_pci(&control()->gpu[gpu->link_peer[link]], pci);
        return NVML_SUCCESS;
    }
    memset(pci, 0, sizeof *pci);
    pci->bus = 0xC0 + link % 6;
    pci->pciDeviceId = 0x22A310DE;
    snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "0000:%02X:00.0", pci->bus);
    snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", pci->bus);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned int link, nvmlPciInfo_t *pci)
{
    ENTER_LINK(nvmlDeviceGetNvLinkRemotePciInfo_v2);
    return remote(gpu, link, pci);
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t device, unsigned int link, nvmlPciInfo_t *pci)
{
    ENTER_LINK(nvmlDeviceGetNvLinkRemotePciInfo);
    nvmlPciInfo_t whole;
    status = remote(gpu, link, &whole);
    if (!status)
        memcpy(pci, &whole, offsetof(nvmlPciInfo_t, busId));
    return status;
}

nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned int link, nvmlIntNvLinkDeviceType_t *type)
{
    ENTER_LINK(nvmlDeviceGetNvLinkRemoteDeviceType);
    if (!gpu->link_up[link] || gpu->link_peer[link] == NOT_CONNECTED)
        return NVML_ERROR_NOT_SUPPORTED;
    *type = gpu->link_peer[link] == SWITCH ? NVML_NVLINK_DEVICE_TYPE_SWITCH : NVML_NVLINK_DEVICE_TYPE_GPU;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t device, unsigned int link, nvmlNvLinkErrorCounter_t counter,
                                             unsigned long long *value)
{
    (void)counter;
    ENTER_LINK(nvmlDeviceGetNvLinkErrorCounter);
    *value = 0;
    return NVML_SUCCESS;
}

long long nvlink_counter(const gpu_t *gpu, int receive)
{
    long long value = receive ? gpu->nvlink_rx : gpu->nvlink_tx;
    double rate = (double)(receive ? gpu->nvlink_rx_rate : gpu->nvlink_tx_rate);
    if (value == NONE)
        return NONE;
    if (control()->animated)
        return value + (long long)(20e6 * load_so_far(slot_of(gpu)));
    return value + (long long)(rate * (seconds() - control()->started));
}

nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device, nvmlDevice_t other, nvmlGpuTopologyLevel_t *level)
{
    ENTER(nvmlDeviceGetTopologyCommonAncestor);
    gpu_t *second;
    status = enter_gpu(F_nvmlDeviceGetTopologyCommonAncestor, other, &second);
    if (status)
        return status;
    if (gpu->topology[slot_of(second)] == NONE)
        return NVML_ERROR_NOT_SUPPORTED;
    *level = (nvmlGpuTopologyLevel_t)gpu->topology[slot_of(second)];
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device, nvmlGpuTopologyLevel_t level, unsigned int *count,
                                              nvmlDevice_t *devices)
{
    ENTER(nvmlDeviceGetTopologyNearestGpus);
    unsigned int found = 0;
    for (int slot = 0; slot < control()->gpus; slot++)
        if (slot != slot_of(gpu) && !control()->gpu[slot].removed && gpu->topology[slot] == (long long)level) {
            if (devices && found < *count)
                devices[found] = handle_of(slot, -1);
            found++;
        }
    int fits = !devices || found <= *count;
    *count = found;
    return fits ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE;
}

nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t device, nvmlDevice_t other, nvmlGpuP2PCapsIndex_t kind,
                                    nvmlGpuP2PStatus_t *p2p)
{
    ENTER(nvmlDeviceGetP2PStatus);
    gpu_t *second;
    status = enter_gpu(F_nvmlDeviceGetP2PStatus, other, &second);
    if (status)
        return status;
    if ((unsigned int)kind >= P2P_KINDS || gpu == second)
        return NVML_ERROR_INVALID_ARGUMENT;
    *p2p = (nvmlGpuP2PStatus_t)gpu->p2p[slot_of(second)][kind];
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceOnSameBoard(nvmlDevice_t device, nvmlDevice_t other, int *same)
{
    ENTER(nvmlDeviceOnSameBoard);
    *same = device == other;
    return NVML_SUCCESS;
}
