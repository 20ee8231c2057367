"""A DQN agent asks its network on the card for an action in each step of an environment in Python.

https://github.com/tensorflow/agents/issues/811: "it is slow because of the communication between GPU and CPU
for each action".

An expert: the observation goes up at the line that makes a tensor of it, the action comes down at `int(..)`,
once a step each.
"""

import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


class Environment:
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def step(self, action):
        return self.rng.normal(size=(1, 8)).astype("float32"), float(action == 1)


class Agent:
    def __init__(self):
        with tf.device("CPU:1"):
            self.w = tf.Variable(tf.random.normal((8, 4)))

    @tf.function
    def q(self, observation):
        with tf.device("CPU:1"):
            return tf.matmul(observation, self.w)

    def act(self, observation):
        with tf.device("CPU:1"):
            values = self.q(tf.constant(observation))  # expect: info host-upload
            best = tf.argmax(values, axis=1)[0]
        return int(best)  # expect: host-sync


environment, agent = Environment(), Agent()
observation, reward = environment.step(0)
for _ in range(12):
    observation, reward = environment.step(agent.act(observation))
