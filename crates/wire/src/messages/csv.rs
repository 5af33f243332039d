//! Comma-separated values for spreadsheets.

/// A line of values. A spreadsheet takes none of them for a formula: one that begins like a formula gets an apostrophe in front.
pub fn line<'a>(values: impl IntoIterator<Item = &'a str>) -> String {
    let cells: Vec<String> = values.into_iter().map(cell).collect();
    format!("{}\r\n", cells.join(","))
}

fn cell(value: &str) -> String {
    let begins_like_a_formula = value.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let value = if begins_like_a_formula { format!("'{value}") } else { value.to_owned() };
    if value.contains([',', '"', '\r', '\n']) { format!("\"{}\"", value.replace('"', "\"\"")) } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_quoted_and_formulas_are_not_run() {
        assert_eq!(line(["a", "b,c", "say \"x\"", "two\nlines", ""]), "a,\"b,c\",\"say \"\"x\"\"\",\"two\nlines\",\r\n");
        assert_eq!(line(["=1+1", "+1", "-1", "@x", "\tx", "\rx", "a=1"]), "'=1+1,'+1,'-1,'@x,'\tx,\"'\rx\",a=1\r\n");
        assert_eq!(line(["=HYPERLINK(\"x\",\"y\")"]), "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\"\r\n");
    }
}
