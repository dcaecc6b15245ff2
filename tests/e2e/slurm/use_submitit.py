"""submitit, unmodified: results, arrays, failures, several processes, cancelling, requeueing."""

import time

import submitit


def add(a, b):
    return a + b


def fail():
    raise ValueError("on purpose")


def rank():
    environment = submitit.JobEnvironment()
    return environment.global_rank, environment.num_tasks


class Counter:
    """Counts for ever the first time; from a checkpoint on it is done."""

    def __init__(self):
        self.count = 0

    def __call__(self, start=0):
        while start == 0:
            self.count += 1
            time.sleep(0.05)
        return "resumed", submitit.JobEnvironment().job_id

    def checkpoint(self, *_, **__):
        return submitit.helpers.DelayedSubmission(self, self.count)


def wait_for(what, is_so):
    deadline = time.monotonic() + 50
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def state(job):
    return job.watcher.get_state(job.job_id, mode="force")


executor = submitit.AutoExecutor(folder="logs/%j", slurm_max_num_timeout=2)
assert executor.cluster == "slurm", executor.cluster
executor.update_parameters(timeout_min=5, gpus_per_node=1, cpus_per_task=1, mem_gb=1, slurm_partition="gpu")

job = executor.submit(add, 5, 7)
assert job.result() == 12
wait_for("it is completed", lambda: state(job) == "COMPLETED")

jobs = executor.map_array(add, [1, 2, 3], [10, 20, 30])
assert [job.result() for job in jobs] == [11, 22, 33]
assert [job.job_id.split("_")[1] for job in jobs] == ["0", "1", "2"], jobs

job = executor.submit(fail)
assert "on purpose" in str(job.exception()), job.exception()
wait_for("it has failed", lambda: state(job) == "FAILED")

executor.update_parameters(tasks_per_node=2, slurm_additional_parameters={"overcommit": True})
assert executor.submit(rank).results() == [(0, 2), (1, 2)]
executor.update_parameters(tasks_per_node=1, slurm_additional_parameters={})

# Told to stop as before a time-out, it is queued again and goes on from its checkpoint.
job = executor.submit(Counter())
wait_for("it runs", lambda: "Loading pickle" in (job.stdout() or ""))
time.sleep(0.5)
job._interrupt(timeout=True)
assert job.result() == ("resumed", job.job_id)

job = executor.submit(Counter())
job.cancel()
wait_for("it is cancelled", lambda: state(job).startswith("CANCELLED"))

# One minute, of which the signal leaves five seconds.
executor.update_parameters(timeout_min=1, slurm_signal_delay_s=55)
job = executor.submit(Counter())
assert job.result() == ("resumed", job.job_id)
print("submitit works")
