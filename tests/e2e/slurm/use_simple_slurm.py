"""simple-slurm, unmodified: an array, a job after it, and srun."""

import datetime
import pathlib
import time

from simple_slurm import Slurm

array = Slurm(
    array=range(3, 6),
    cpus_per_task=1,
    gres=["gpu:1"],
    job_name="array",
    output=f"{Slurm.JOB_ARRAY_MASTER_ID}_{Slurm.JOB_ARRAY_ID}.out",
    time=datetime.timedelta(hours=1),
)
array.add_cmd("echo index", Slurm.SLURM_ARRAY_TASK_ID)
first = array.sbatch("echo done")

after = Slurm(job_name="after")
after.set_dependency({"afterok": first})
after.sbatch("echo after > after.txt")
deadline = time.monotonic() + 50
while not (pathlib.Path("after.txt").exists() and pathlib.Path("after.txt").read_text()):
    assert time.monotonic() < deadline, "the job after the array does not start"
    time.sleep(0.1)
for index in range(3, 6):
    assert pathlib.Path(f"{first}_{index}.out").read_text() == f"index {index}\ndone\n"
assert Slurm("-n", "1").srun("true") == 0
print("simple-slurm works")
