//! The binary `figaro-mcp`: passes arguments and environment to the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    figaro_mcp::main(std::env::args_os().skip(1), |name| std::env::var_os(name))
}
