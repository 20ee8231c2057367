"""Device hues: their places, and that people with colour vision deficiencies can tell them apart."""

from __future__ import annotations

import itertools

import pytest

from app.components.shared.palette import PALETTES
from app.views.colors import (
    DARK,
    LIGHT,
    LIVE,
    Theme,
    device_colors,
    device_order,
    is_alert,
    with_alpha,
)

Vector = tuple[float, float, float]

# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
DEFICIENCIES: dict[str, tuple[Vector, Vector, Vector]] = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
LEAST_DISTANCE = 0.06
"""In OKLab. The eight of the Okabe-Ito palette, the usual reference, keep 0.076; here are ten."""


def linear(color: str) -> Vector:
    values = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values)
    return red, green, blue


def seen(color: str, deficiency: str | None) -> Vector:
    rgb = linear(color)
    if deficiency is None:
        return rgb
    rows = DEFICIENCIES[deficiency]
    red, green, blue = (min(1.0, max(0.0, sum(m * c for m, c in zip(row, rgb, strict=True)))) for row in rows)
    return red, green, blue


def oklab(rgb: Vector) -> Vector:
    red, green, blue = rgb
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    middle = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def distance(one: str, other: str, deficiency: str | None) -> float:
    a, b = oklab(seen(one, deficiency)), oklab(seen(other, deficiency))
    return float(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) ** 0.5)


def luminance(color: str) -> float:
    red, green, blue = linear(color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("deficiency", [None, *DEFICIENCIES])
def test_hues_are_told_apart(theme: Theme, deficiency: str | None) -> None:
    colors = [*theme.hues, theme.host, theme.alert]
    close = {
        (one, other): round(distance(one, other, deficiency), 3)
        for one, other in itertools.combinations(colors, 2)
        if distance(one, other, deficiency) < LEAST_DISTANCE
    }
    assert close == {}


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_stand_out_from_the_page(theme: Theme) -> None:
    assert contrast(theme.text, theme.background) >= 7
    assert contrast(theme.muted, theme.background) >= 4.5
    assert contrast(theme.alert, theme.background) >= 4
    assert min(contrast(hue, theme.background) for hue in theme.hues) >= 2


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_reads_well_on_the_ramp(theme: Theme) -> None:
    low = [contrast(theme.text, color) for color in theme.ramp[:3]]
    high = [contrast(theme.bright, color) for color in theme.ramp[3:]]
    assert min(low + high) >= 4


def test_both_palettes_name_the_same_colours() -> None:
    assert PALETTES["light"].keys() == PALETTES["dark"].keys()
    assert LIVE.hues[2] == "var(--hs-hue2)"
    assert LIVE.alert == "var(--hs-alert)"


def test_a_device_has_the_hue_of_its_ordinal() -> None:
    devices = ["cpu:0", "gpu:0", "gpu:2"]
    assert device_colors(devices, LIGHT) == {
        "cpu:0": LIGHT.host,
        "gpu:0": LIGHT.hues[0],
        "gpu:2": LIGHT.hues[2],
    }
    assert device_colors(["cpu:1", "cpu:2", "cpu:0"], LIGHT) == {
        "cpu:1": LIGHT.hues[0],
        "cpu:2": LIGHT.hues[1],
        "cpu:0": LIGHT.host,
    }


def test_devices_of_several_processes_share_no_hue_while_there_are_some() -> None:
    devices = ["worker:0/gpu:0", "worker:1/gpu:0", "worker:1/gpu:1", "worker:0/cpu:0", "worker:1/cpu:0"]
    assert device_colors(devices, LIGHT) == {
        "worker:0/gpu:0": LIGHT.hues[0],
        "worker:1/gpu:0": LIGHT.hues[1],
        "worker:1/gpu:1": LIGHT.hues[2],
        "worker:0/cpu:0": LIGHT.host,
        "worker:1/cpu:0": LIGHT.host,
    }
    many = device_colors([f"gpu:{index}" for index in range(10)], LIGHT)
    assert [many["gpu:8"], many["gpu:9"]] == [LIGHT.hues[0], LIGHT.hues[1]]


def test_the_order_puts_hosts_last() -> None:
    devices = ["cpu:0", "gpu:10", "gpu:2", "worker:0/gpu:0", "worker:0/cpu:0"]
    assert sorted(devices, key=device_order) == [
        "gpu:2",
        "gpu:10",
        "worker:0/gpu:0",
        "cpu:0",
        "worker:0/cpu:0",
    ]


def test_severities() -> None:
    assert [is_alert(name) for name in ("error", "warning", "info")] == [True, True, False]


def test_transparency() -> None:
    assert with_alpha("#ff8000", 0.25) == "rgba(255,128,0,0.25)"
    assert with_alpha("var(--hs-hue0)", 0.25) == "var(--hs-hue0,0.25)"
