"""What a strategy's input pipeline gives, and whether tf.data tunes it where the programs stopped that."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "runners" / "programs" / "helpers"))

import tensorflow as tf
from tf_shared import devices

devices.split_host(tf, 2)
strategy = tf.distribute.MirroredStrategy(["cpu:1", "cpu:2"])
devices.stop_tuning()
numbers = tf.data.Dataset.range(4).map(lambda number: 2 * number).batch(4)
distributed = iter(strategy.experimental_distribute_dataset(numbers))
given = [part.numpy().tolist() for part in next(distributed).values]
pipeline = distributed._iterators[0]._iterator
datasets = [one._dataset for one in pipeline._device_iterators]
tuned = [dataset.options().autotune.enabled for dataset in datasets]
print(f"{given} of {len(datasets)} parts, tuned: {tuned}")
