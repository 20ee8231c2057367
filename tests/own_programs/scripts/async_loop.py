"""asyncio: tasks, to_thread, an executor, a subprocess, signals, a task that raises; in debug mode."""

# frameworks: none tensorflow mxnet
import asyncio
import os
import signal

import framework


async def fails():
    await asyncio.sleep(0)
    framework.fail()


async def main():
    loop = asyncio.get_running_loop()
    heard = asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, heard.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await asyncio.wait_for(heard.wait(), 10)
    print(await asyncio.gather(*(asyncio.to_thread(framework.compute) for _ in range(4))))
    process = await asyncio.create_subprocess_exec("echo", "from a child", stdout=asyncio.subprocess.PIPE)
    print((await process.communicate())[0])
    results = await asyncio.gather(fails(), return_exceptions=True)
    print(type(results[0]).__name__)
    await fails()


loop = asyncio.new_event_loop()
loop.slow_callback_duration = 60
loop.set_debug(True)
loop.run_until_complete(main())
