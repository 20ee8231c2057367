"""Consecutive layers of a network, split over devices: the option `--split`, and where each device begins."""

from __future__ import annotations

import argparse

from shared import command


def add_options(options: command.Parser, layers: int, what: str) -> None:
    """Add `--layers`, of `what` kind and so many by default, and `--split`."""
    options.add_argument(
        "--layers", type=command.positive, default=layers, metavar="N", help=f"{what} (default: {layers})"
    )
    options.add_argument(
        "--split",
        type=split_points,
        metavar="I,J,..",
        help="layers, counted from 0, at which the next device takes over (default: even shares)",
    )


def split_points(text: str) -> list[int]:
    """Rising layer numbers, separated by commas."""
    points: list[int] = command.positive_list(text)
    if points != sorted(set(points)):
        raise argparse.ArgumentTypeError(f"{text!r} does not rise from each point to the next")
    return points


def stage_bounds(options: command.Parser, args: argparse.Namespace, stages: int) -> list[int]:
    """The layers at which stages begin, and the end: [0, 2, 4, 6] for six layers in three stages."""
    if args.layers < stages:
        options.error(f"{args.layers} layers are too few for {stages} devices; give more --layers")
    points = args.split or [args.layers * stage // stages for stage in range(1, stages)]
    if len(points) != stages - 1:
        options.error(f"--split needs {stages - 1} points for {stages} devices, and has {len(points)}")
    if points[-1] >= args.layers:
        options.error(f"--split names layer {points[-1]}, and the layers are 0 to {args.layers - 1}")
    return [0, *points, args.layers]
