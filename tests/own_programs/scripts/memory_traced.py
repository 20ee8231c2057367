"""tracemalloc on from before the import; snapshots, and stopped."""

# frameworks: none tensorflow mxnet
import tracemalloc

tracemalloc.start(5)
import framework

framework.compute()
before = tracemalloc.take_snapshot()
kept = [bytes(1000) for _ in range(1000)]
after = tracemalloc.take_snapshot()
top = max(
    (s for s in after.compare_to(before, "lineno") if s.traceback[0].filename == __file__),
    key=lambda s: s.size_diff,
)
print(top.traceback[0].lineno, top.count_diff > 900)
tracemalloc.stop()
print(tracemalloc.is_tracing(), framework.compute())
