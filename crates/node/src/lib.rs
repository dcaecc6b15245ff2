//! What runs on a GPU host: the agent loop, the task shim, run directories and GPU probes will live here.
