"""An optimizer that notes where the gradients that it is given lie.

With a kvstore the replicas' gradients are summed before the optimizer sees them, and the array that holds a
sum is where it was made. So its context is the device that summed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mx_shared import devices


def make_sgd(learning_rate: float, rescale: float = 1.0) -> Any:
    """Stochastic gradient descent; its `given` says of each parameter the device and bytes of its gradient.

    `rescale` multiplies the gradients: a Module's are sums over the images of a batch.
    """
    import mxnet as mx

    class NotingSGD(mx.optimizer.SGD):  # type: ignore[misc]
        """SGD that notes what gradients it is given."""

        given: dict[Any, tuple[str, int]]

        def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
            """Note the gradients, one or a list, and update the weights."""
            pairs = zip(index, grad) if isinstance(index, (list, tuple)) else [(index, grad)]
            for name, gradient in pairs:
                # Float32, as the weights are.
                self.given[name] = devices.name_of(gradient.context), gradient.size * 4
            super().update_multi_precision(index, weight, grad, state)

    optimizer = NotingSGD(learning_rate=learning_rate, rescale_grad=rescale)
    optimizer.given = {}
    return optimizer


def bytes_by_device(given: Mapping[Any, tuple[str, int]]) -> dict[str, int]:
    """How many bytes of gradients lay on each device."""
    sizes: dict[str, int] = {}
    for device, size in given.values():
        sizes[device] = sizes.get(device, 0) + size
    return dict(sorted(sizes.items()))
