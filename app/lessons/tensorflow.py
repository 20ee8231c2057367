"""The TensorFlow programs' lessons."""

from __future__ import annotations

from app.lessons.lesson import Lesson, Variant

LESSONS = (
    Lesson(
        "tf-pin-model",
        (Variant("pinned", steps=3),),
        "Build the model inside tf.device as well as fitting it there: variables stay where they were made. "
        "On a GPU that you share, call tf.config.experimental.set_memory_growth before anything else.",
    ),
    Lesson(
        "tf-mirrored",
        (
            Variant("default", {"loop": "custom"}, steps=3),
            Variant("reduction", {"loop": "custom", "cross-device-ops": "reduction-to-one-device"}, steps=3),
            Variant("hierarchical", {"loop": "custom", "cross-device-ops": "hierarchical-copy"}, steps=3),
        ),
        "Make the model and the optimizer inside strategy.scope() and leave placement to the strategy. "
        "Choose tf.distribute.NcclAllReduce where the GPUs have links to each other.",
    ),
    Lesson(
        "tf-model-parallel",
        (Variant("even", steps=3),),
        "Cut a model where the tensor between two layers is small, and give neighbouring layers to devices "
        "that have a direct link.",
    ),
    Lesson(
        "tf-pin-gradients",
        (
            Variant("outside", {"gradients": "outside"}, steps=3),
            Variant("inside", {"gradients": "inside"}, steps=3),
        ),
        "Call tape.gradient and optimizer.apply_gradients inside the same tf.device as the forward pass.",
    ),
)
