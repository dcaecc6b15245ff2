//! The scripts of the tour, in a directory where all users can read and run them.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

const SCRIPTS: [(&str, &str); 5] = [
    ("prepare.sh", "echo unpacking the data\nsleep 1.2\necho 60,000 pictures\n"),
    (
        "train.sh",
        "echo \"training on GPUs $CUDA_VISIBLE_DEVICES\"\n\
         for epoch in 1 2 3 4; do\n  sleep 0.7\n  echo \"epoch $epoch of 4\"\ndone\n",
    ),
    (
        "sweep.sh",
        "echo \"seed $DANLU_ARRAY_INDEX on GPU $CUDA_VISIBLE_DEVICES\"\nsleep 0.7\necho done\n",
    ),
    (
        "big.sh",
        "echo \"all GPUs: $CUDA_VISIBLE_DEVICES\"\nstep=0\n\
         while true; do\n  step=$((step + 1))\n  echo \"step $step\"\n  sleep 1\ndone\n",
    ),
    ("report.sh", "echo \"a report\"\nsleep 1\n"),
];

/// Makes the directory `lab` in this one.
pub(super) fn furnish(directory: &Path) -> io::Result<PathBuf> {
    let lab = directory.join("lab");
    fs::create_dir(&lab)?;
    fs::set_permissions(&lab, fs::Permissions::from_mode(0o755))?;
    for (name, lines) in SCRIPTS {
        let path = lab.join(name);
        fs::write(&path, format!("#!/bin/sh\n{lines}"))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(lab)
}
