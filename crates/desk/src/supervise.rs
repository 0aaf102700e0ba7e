//! Running a child process under limits, and ending all of it.
