"""multiprocessing by fork: a pool, a queue, a shared value, an exception with its remote traceback."""

# frameworks: none tensorflow mxnet
import multiprocessing
import traceback

import framework


def square(n):
    return n * n


def fails(n):
    raise KeyError(n)


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    with context.Pool(3) as pool:
        print(pool.map(square, range(20)))
        try:
            pool.apply(fails, (3,))
        except KeyError:
            traceback.print_exc()
    queue, value = context.Queue(), context.Value("i", 0)
    worker = context.Process(target=queue.put, args=("from the child",))
    worker.start()
    print(queue.get(), value.value)
    worker.join()
    print(worker.exitcode, framework.compute())
