"""multiprocessing by a fork server that has the framework preloaded."""

# frameworks: none tensorflow mxnet
import multiprocessing


def work(n):
    import framework

    return n * framework.compute()


if __name__ == "__main__":
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["framework"])
    with context.Pool(2) as pool:
        print(pool.map(work, range(6)))
