//! Problems of machines and of the connections to them, and the results of `danlu node check`. Values only: the server keeps
//! them, and words them where an answer is made, in the language of its reader.

mod check;
mod metric;
mod problem;
pub mod words;

pub use check::CheckOutcome;
pub use metric::failed_metric;
pub use problem::MachineProblem;

#[cfg(test)]
mod tests;
