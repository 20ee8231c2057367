"""Sessions of TensorFlow 1: queues, coordinators, hooks, partial runs, feeds, run metadata, graph files."""

# frameworks: tensorflow
import numpy as np
import tensorflow.compat.v1 as tf

tf.logging.set_verbosity(tf.logging.ERROR)

tf.disable_v2_behavior()
tf.set_random_seed(1)
x = tf.placeholder(tf.float32, (None, 2))
w = tf.get_variable("w", (2, 1), initializer=tf.ones_initializer())
loss = tf.reduce_mean(tf.square(x @ w - 1.0))
step = tf.train.get_or_create_global_step()
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
queue = tf.FIFOQueue(10, tf.float32)
tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(1.0)] * 2))
taken = queue.dequeue()
with tf.train.MonitoredTrainingSession(
    hooks=[tf.train.StopAtStepHook(30)], checkpoint_dir="kept", save_summaries_steps=None
) as session:
    while not session.should_stop():
        value, got, _ = session.run([loss, taken, train], {x: np.ones((4, 2), np.float32)})
print(round(float(value), 5), got)
metadata = tf.RunMetadata()
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    session.run(loss, {x: np.ones((1, 2))}, options=options, run_metadata=metadata)
    print(len(metadata.step_stats.dev_stats) > 0, len(metadata.partition_graphs))
    plain = tf.RunMetadata()
    session.run(loss, {x: np.ones((1, 2))}, run_metadata=plain)
    print(len(plain.step_stats.dev_stats), len(plain.partition_graphs), len(plain.cost_graph.node))
    call = session.make_callable(loss, [x])
    print(call(np.zeros((1, 2), np.float32)))
tf.train.write_graph(tf.get_default_graph(), ".", "graph.pbtxt")
import shutil

shutil.rmtree("kept")
