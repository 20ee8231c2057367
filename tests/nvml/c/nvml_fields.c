// Field values: many figures a call, each with its own status.
#include "nvml_double.h"

static nvmlReturn_t field(const gpu_t *gpu, nvmlFieldValue_t *value)
{
    const long long *number = NULL;
    long long counted = NONE;
    value->valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
    switch (value->fieldId) {
    case NVML_FI_DEV_ECC_CURRENT:
        number = &gpu->ecc_mode;
        break;
    case NVML_FI_DEV_ECC_PENDING:
        number = &gpu->ecc_mode_pending;
        break;
    case NVML_FI_DEV_RETIRED_SBE:
        number = &gpu->retired_corrected;
        break;
    case NVML_FI_DEV_RETIRED_DBE:
        number = &gpu->retired_uncorrected;
        break;
    case NVML_FI_DEV_RETIRED_PENDING:
        number = &gpu->retired_pending;
        break;
    case NVML_FI_DEV_REMAPPED_COR:
        number = &gpu->remapped_corrected;
        break;
    case NVML_FI_DEV_REMAPPED_UNC:
        number = &gpu->remapped_uncorrected;
        break;
    case NVML_FI_DEV_REMAPPED_PENDING:
        number = &gpu->remapped_pending;
        break;
    case NVML_FI_DEV_REMAPPED_FAILURE:
        number = &gpu->remapped_failure;
        break;
    case NVML_FI_DEV_MEMORY_TEMP:
        number = &gpu->temperature_memory;
        break;
    case NVML_FI_DEV_PCIE_REPLAY_COUNTER:
        number = &gpu->pcie_replay;
        break;
    case NVML_FI_DEV_POWER_AVERAGE:
    case NVML_FI_DEV_POWER_INSTANT:
        number = &gpu->power;
        break;
    case NVML_FI_DEV_POWER_MIN_LIMIT:
        number = &gpu->power_limit_min;
        break;
    case NVML_FI_DEV_POWER_MAX_LIMIT:
        number = &gpu->power_limit_max;
        break;
    case NVML_FI_DEV_POWER_DEFAULT_LIMIT:
        number = &gpu->power_limit_default;
        break;
    case NVML_FI_DEV_POWER_CURRENT_LIMIT:
        number = &gpu->power_limit_enforced;
        break;
    case NVML_FI_DEV_POWER_REQUESTED_LIMIT:
        number = &gpu->power_limit;
        break;
    case NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON:
    case NVML_FI_DEV_NVLINK_GET_SPEED:
        if (!gpu->link_count)
            return NVML_ERROR_NOT_SUPPORTED;
        number = &gpu->nvlink_speed;
        break;
    case NVML_FI_DEV_NVLINK_LINK_COUNT:
        counted = gpu->link_count;
        break;
    case NVML_FI_DEV_ECC_SBE_VOL_TOTAL:
        number = &gpu->ecc_corrected_volatile;
        break;
    case NVML_FI_DEV_ECC_DBE_VOL_TOTAL:
        number = &gpu->ecc_uncorrected_volatile;
        break;
    case NVML_FI_DEV_ECC_SBE_AGG_TOTAL:
        number = &gpu->ecc_corrected_aggregate;
        break;
    case NVML_FI_DEV_ECC_DBE_AGG_TOTAL:
        number = &gpu->ecc_uncorrected_aggregate;
        break;
    case NVML_FI_DEV_ENERGY:
    case NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION:
        value->valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
        number = &gpu->energy;
        break;
    case NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX:
    case NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX:
    case NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_TX:
    case NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_RX:
        if (!gpu->link_count)
            return NVML_ERROR_NOT_SUPPORTED;
        value->valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
        counted = nvlink_counter(gpu, value->fieldId == NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX ||
                                          value->fieldId == NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_RX);
        // A scope of all ones is the sum over the links.
        if (counted != NONE && value->scopeId != 0xFFFFFFFFU)
            counted = value->scopeId < (unsigned long long)gpu->link_count ? counted / gpu->link_count : NONE;
        break;
    case NVML_FI_DEV_PCIE_COUNT_TX_BYTES:
    case NVML_FI_DEV_PCIE_COUNT_RX_BYTES:
        counted = value->fieldId == NVML_FI_DEV_PCIE_COUNT_TX_BYTES ? gpu->pcie_tx : gpu->pcie_rx;
        if (counted != NONE)
            counted = (unsigned int)((double)counted * 1000 * (seconds() - control()->started));
        break;
    default:
        break;
    }
    if (number)
        counted = now_of(gpu, number);
    if (counted == NONE)
        return NVML_ERROR_NOT_SUPPORTED;
    value->value.ullVal = (unsigned long long)counted;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *values)
{
    ENTER(nvmlDeviceGetFieldValues);
    if (!values || count < 1)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (int at = 0; at < count; at++) {
        nvmlFieldValue_t *value = &values[at];
        value->timestamp = (long long)(seconds() * 1e6);
        value->latencyUsec = 0;
        int fault = value->fieldId < MAX_FIELDS ? gpu->field_fault[value->fieldId] : 0;
        value->nvmlReturn = fault ? (nvmlReturn_t)fault : field(gpu, value);
    }
    return NVML_SUCCESS;
}
