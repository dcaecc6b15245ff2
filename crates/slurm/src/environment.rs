//! The variables of jobs. They are the same for scripts with `#SBATCH` lines that `danlu submit` reads, and live there.

pub use danlu_spec::script::slurm_environment::{
    CLUSTER, JobShape, PARTITION, Submitter, is_of_a_job, variables,
};
