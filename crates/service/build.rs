//! Lists the files in `texts/`, so that adding a language is adding a file.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=texts");
    let mut codes = Vec::new();
    for entry in fs::read_dir("texts")? {
        let name = entry?.file_name();
        codes.extend(name.to_string_lossy().strip_suffix(".ftl").map(ToOwned::to_owned));
    }
    codes.sort();
    let entry = |code: &String| format!(r#"("{code}", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/texts/{code}.ftl"))),"#);
    let entries: String = codes.iter().map(entry).collect();
    let output = env::var_os("OUT_DIR").ok_or("Cargo names no directory for the output")?;
    fs::write(Path::new(&output).join("texts.rs"), format!("[{entries}]"))?;
    Ok(())
}
