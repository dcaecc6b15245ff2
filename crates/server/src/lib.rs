//! The daemon: engine, store, node backends, HTTP interface and web pages will live here.
