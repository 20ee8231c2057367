"""multiprocessing by spawn: workers import the framework and compute."""

# frameworks: none tensorflow mxnet
import multiprocessing

import framework


def work(n):
    return n * framework.compute()


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        print(pool.map(work, range(6)))
