"""dask-jobqueue's SLURMCluster, unmodified: workers are jobs."""

from dask.distributed import Client
from dask_jobqueue import SLURMCluster

if __name__ == "__main__":
    cluster = SLURMCluster(
        cores=1,
        memory="1GB",
        walltime="00:10:00",
        queue="gpu",
        job_extra_directives=["--gres=gpu:1"],
        log_directory="dask-logs",
        interface="lo",
        scheduler_options={"dashboard_address": None},
    )
    cluster.scale(jobs=2)
    with Client(cluster) as client:
        client.wait_for_workers(2, timeout=50)
        squares = client.gather(client.map(lambda number: number * number, range(10)))
        assert sum(squares) == 285, squares
    cluster.close()
    print("dask-jobqueue works")
