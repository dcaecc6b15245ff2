//! What crosses a process border: agent messages, run directory files and REST bodies will live here.
