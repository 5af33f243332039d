//! Samples of a call in four languages, each complete enough to be pasted.

use super::document::{Document, Operation, text};

/// A sample in one language.
pub(super) struct Sample {
    pub(super) language: &'static str,
    pub(super) code: String,
}

/// The answer of a call, as far as a sample cares.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Json,
    Nothing,
    /// Lines that come as long as the connection lasts.
    Stream,
    /// A file, with the name to keep it under.
    File(&'static str),
}

/// A call with everything that a sample needs.
struct Call {
    method: String,
    /// The path with example values.
    path: String,
    /// The headers besides that of the token.
    headers: Vec<(String, String)>,
    needs_token: bool,
    body: Option<String>,
    answer: Answer,
}

/// Samples of an operation: curl, Python, TypeScript and Rust.
pub(super) fn of(document: &Document, operation: Operation<'_>) -> Vec<Sample> {
    let call = Call::of(document, operation);
    vec![
        Sample { language: "curl", code: call.curl() },
        Sample { language: "Python", code: call.python() },
        Sample { language: "TypeScript", code: call.typescript() },
        Sample { language: "Rust", code: call.rust() },
    ]
}

impl Call {
    fn of(document: &Document, operation: Operation<'_>) -> Self {
        let (mut path, mut headers) = (operation.path.to_owned(), Vec::new());
        for parameter in operation.parameters() {
            let name = text(parameter, "name");
            let is_required = parameter.get("required").and_then(serde_json::Value::as_bool) == Some(true);
            match text(parameter, "in") {
                "path" => path = path.replace(&format!("{{{name}}}"), text(parameter, "example")),
                "header" if is_required => headers.push((name.to_owned(), "…".to_owned())),
                _ => {}
            }
        }
        let read = operation.reads().into_iter().next();
        let body = read.map(|body| {
            let example = document.example(body).unwrap_or_else(|| "{}".to_owned());
            if body.media_type == "application/json" { example } else { on_one_line(&example) }
        });
        headers.extend(read.map(|body| ("Content-Type".to_owned(), body.media_type.to_owned())));
        let (_, _, answered) = operation.answers().into_iter().find(|(status, ..)| status.starts_with('2')).unwrap_or_default();
        let answer = match answered.first().map(|body| body.media_type) {
            Some("text/event-stream") => Answer::Stream,
            Some("application/pdf") => Answer::File("label.pdf"),
            Some("image/png") => Answer::File("code.png"),
            Some(_) => Answer::Json,
            None => Answer::Nothing,
        };
        let needs_token = !operation.scopes().is_empty();
        Self { method: operation.method.to_uppercase(), path, headers, needs_token, body, answer }
    }

    fn curl(&self) -> String {
        let method = if self.method == "GET" || (self.method == "POST" && self.body.is_some()) {
            String::new()
        } else {
            format!("-X {} ", self.method)
        };
        let stream = if self.answer == Answer::Stream { "-N " } else { "" };
        let mut parts = vec![format!("curl -fsS {stream}{method}\"$BASE{}\"", self.path)];
        if self.needs_token {
            parts.push("-H \"Authorization: Bearer $TOKEN\"".to_owned());
        }
        parts.extend(self.headers.iter().map(|(name, value)| format!("-H '{name}: {value}'")));
        parts.extend(self.body.as_ref().map(|body| format!("-d '{}'", body.replace('\'', "'\\''"))));
        if let Answer::File(name) = self.answer {
            parts.push(format!("-o {name}"));
        }
        parts.join(" \\\n  ")
    }

    fn python(&self) -> String {
        let mut headers: Vec<String> = Vec::new();
        if self.needs_token {
            headers.push("\"Authorization\": \"Bearer \" + os.environ[\"TOKEN\"]".to_owned());
        }
        headers.extend(self.headers.iter().map(|(name, value)| format!("\"{name}\": \"{value}\"")));
        let (body, data) = match &self.body {
            Some(body) => (format!("body = r\"\"\"{body}\"\"\"\n\n"), "\n    data=body.encode(),"),
            None => (String::new(), ""),
        };
        let (import, read) = match self.answer {
            Answer::Json => ("import json\n", "    print(json.load(answer))".to_owned()),
            Answer::Nothing => ("", "    print(answer.status)".to_owned()),
            Answer::Stream => ("", "    for line in answer:\n        print(line.decode(), end=\"\")".to_owned()),
            Answer::File(name) => ("", format!("    with open(\"{name}\", \"wb\") as file:\n        file.write(answer.read())")),
        };
        format!(
            "{import}import os\nfrom urllib.request import Request, urlopen\n\n{body}request = Request(\n    os.environ[\"BASE\"] + \"{}\",\n    \
             method=\"{}\",\n    headers={{{}}},{data}\n)\nwith urlopen(request) as answer:\n{read}\n",
            self.path,
            self.method,
            headers.join(", "),
        )
    }

    fn typescript(&self) -> String {
        let mut headers: Vec<String> = Vec::new();
        if self.needs_token {
            headers.push("Authorization: `Bearer ${process.env.TOKEN}`".to_owned());
        }
        headers.extend(self.headers.iter().map(|(name, value)| format!("\"{name}\": \"{value}\"")));
        let headers = if headers.is_empty() { String::new() } else { format!("\n  headers: {{ {} }},", headers.join(", ")) };
        let body = self.body.as_ref().map(|body| format!("\n  body: JSON.stringify({}),", body.replace('\n', "\n  "))).unwrap_or_default();
        let (import, read) = match self.answer {
            Answer::Json => ("", "console.log(await answer.json());".to_owned()),
            Answer::Nothing => ("", "console.log(answer.status);".to_owned()),
            Answer::Stream => (
                "",
                "const text = answer.body!.pipeThrough(new TextDecoderStream());\nfor await (const part of text) process.stdout.write(part);"
                    .to_owned(),
            ),
            Answer::File(name) => (
                "import { writeFile } from \"node:fs/promises\";\n\n",
                format!("await writeFile(\"{name}\", Buffer.from(await answer.arrayBuffer()));"),
            ),
        };
        format!(
            "{import}const answer = await fetch(`${{process.env.BASE}}{}`, {{\n  method: \"{}\",{headers}{body}\n}});\n\
             if (!answer.ok) throw new Error(`${{answer.status}} ${{await answer.text()}}`);\n{read}\n",
            self.path, self.method,
        )
    }

    fn rust(&self) -> String {
        let mut parts = vec![format!(".{}(format!(\"{{base}}{}\"))", self.method.to_lowercase(), self.path)];
        if self.needs_token {
            parts.push(".bearer_auth(token)".to_owned());
        }
        let is_json = self.headers.iter().any(|(name, value)| name == "Content-Type" && value == "application/json");
        let set = self.headers.iter().filter(|(name, _)| !(is_json && name == "Content-Type"));
        parts.extend(set.map(|(name, value)| format!(".header(\"{name}\", \"{value}\")")));
        parts.extend(self.body.as_ref().map(|body| {
            if is_json { format!(".json(&serde_json::json!({}))", body.replace('\n', "\n    ")) } else { format!(".body(r#\"{body}\"#)") }
        }));
        parts.extend([".send()", ".await?", ".error_for_status()?;"].map(str::to_owned));
        let read = match self.answer {
            Answer::Json => "println!(\"{}\", answer.json::<serde_json::Value>().await?);".to_owned(),
            Answer::Nothing => "println!(\"{}\", answer.status());".to_owned(),
            Answer::Stream => {
                "while let Some(part) = answer.chunk().await? {\n    print!(\"{}\", String::from_utf8_lossy(&part));\n}".to_owned()
            }
            Answer::File(name) => format!("std::fs::write(\"{name}\", answer.bytes().await?)?;"),
        };
        let token = if self.needs_token { "\nlet token = std::env::var(\"TOKEN\")?;" } else { "" };
        let changes = if self.answer == Answer::Stream { "mut " } else { "" };
        format!(
            "let base = std::env::var(\"BASE\")?;{token}\nlet {changes}answer = reqwest::Client::new()\n    {}\n{read}\n",
            parts.join("\n    ")
        )
    }
}

/// JSON without line breaks, as a line of a file has it.
fn on_one_line(json: &str) -> String {
    json.lines().map(str::trim_start).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document {
        Document::read(
            r##"{ "paths": {
                "/v1/returns/{rma_identifier}/cancel": { "post": {
                    "security": [{ "oauth2": ["orders"] }],
                    "parameters": [{ "in": "path", "name": "rma_identifier", "required": true, "example": "R-F779-W5W2" }],
                    "responses": { "200": { "content": { "application/json": {} } } } } },
                "/v1/carrier_events": { "post": {
                    "requestBody": { "content": { "application/json": { "examples": { "example": { "$ref": "#/components/examples/CarrierEventTaken" } } } } },
                    "responses": { "204": {} } } } } }"##,
        )
    }

    #[test]
    fn a_sample_names_the_route_and_the_token() {
        let document = document();
        let cancel = document.operations().into_iter().find(|operation| operation.path.ends_with("cancel")).unwrap();
        let samples = of(&document, cancel);
        assert_eq!(samples[0].code, "curl -fsS -X POST \"$BASE/v1/returns/R-F779-W5W2/cancel\" \\\n  -H \"Authorization: Bearer $TOKEN\"");
        for sample in &samples {
            assert!(sample.code.contains("/v1/returns/R-F779-W5W2/cancel") && sample.code.contains("TOKEN"), "{}", sample.code);
        }
    }

    #[test]
    fn a_body_is_sent_as_the_language_writes_it() {
        let document = document();
        let report = document.operations().into_iter().find(|operation| operation.path.ends_with("events")).unwrap();
        let [curl, python, typescript, rust] = &of(&document, report)[..] else { panic!("four languages") };
        assert!(curl.code.contains("-d '{\n  \"result\": \"moved\"") && !curl.code.contains("TOKEN"), "{}", curl.code);
        assert!(python.code.contains("body = r\"\"\"{\n") && python.code.contains("data=body.encode()"), "{}", python.code);
        assert!(typescript.code.contains("body: JSON.stringify({\n"), "{}", typescript.code);
        assert!(rust.code.contains(".json(&serde_json::json!({\n"), "{}", rust.code);
    }
}
