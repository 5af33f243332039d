//! The statements of a migration, one by one. Citus passes the text of a request on as it is, and so takes one statement at a time.

/// What a statement may hold that has a meaning of its own, from where it opens to where it closes.
const QUOTED: [(&str, &str); 3] = [("--", "\n"), ("'", "'"), ("$$", "$$")];

/// The statements in `sql`.
pub(super) fn statements(sql: &str) -> Vec<String> {
    let (mut found, mut statement, mut rest) = (Vec::new(), String::new(), sql);
    while let Some(place) = rest.find([';', '-', '\'', '$']) {
        let (before, from) = rest.split_at(place);
        statement.push_str(before);
        if let Some(after) = from.strip_prefix(';') {
            found.push(std::mem::take(&mut statement));
            rest = after;
        } else {
            let (quoted, after) = from.split_at(length(from));
            statement.push_str(quoted);
            rest = after;
        }
    }
    statement.push_str(rest);
    found.push(statement);
    found.retain(|statement| statement.lines().any(|line| !line.trim().is_empty() && !line.trim().starts_with("--")));
    found
}

/// The length of what is quoted at the beginning, or of one character.
fn length(from: &str) -> usize {
    let quoted = |(opens, closes): &(&str, &str)| {
        let inside = from.strip_prefix(opens)?;
        Some(opens.len() + inside.find(closes).map_or(inside.len(), |end| end + closes.len()))
    };
    QUOTED.iter().find_map(quoted).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_semicolon_ends_a_statement_unless_it_is_quoted() {
        let sql = "-- One; or two.\ncreate table a (b text default 'c;d''e;');\ndo $$ begin; 'f end $$;\n\n-- Done; that is all.\n";
        assert_eq!(statements(sql), ["-- One; or two.\ncreate table a (b text default 'c;d''e;')", "\ndo $$ begin; 'f end $$"]);
        assert_eq!(statements("select 1 - 2"), ["select 1 - 2"]);
    }
}
