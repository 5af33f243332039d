#!/usr/bin/env python3
"""Makes man pages and shell completions from `backhaul cli-reference`, which lists every command and option of the program.

Usage: reference.py PROGRAM DIRECTORY DATE. Writes DIRECTORY/man1/*.1 and DIRECTORY/completions/backhaul.{bash,zsh,fish}.
"""

import pathlib
import re
import subprocess
import sys
import textwrap

program, directory, date = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]


def run(*words):
    return subprocess.run([program, *words], check=True, capture_output=True, text=True).stdout


def read(reference):
    """The help of each command, by the words that name it: `backhaul endpoint set`."""
    found = re.findall(r"^## (backhaul[^\n]*)\n\n```text\n(.*?)\n```$", reference, re.DOTALL | re.MULTILINE)
    assert len(found) > 50, "the reference has changed its form"
    return dict(found)


def roff(text):
    """Text that roff does not take for a request, with code in bold."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"`([^`]+)`", r"\\fB\1\\fR", text)
    return "\\&" + text if text[:1] in (".", "'") else text


def body(lines):
    """The help of one command as roff: paragraphs, and a tagged one for each option, argument or command below."""
    out = []
    for line in lines:
        text = line.strip()
        indent = len(line) - len(line.lstrip())
        if not text:
            out.append("")
        elif not indent and text.startswith("Usage: "):
            out += [".PP", f"\\fB{roff(text[7:])}\\fR"]
        elif not indent and re.fullmatch(r"[A-Z]\w+:", text):
            out += [".PP", f"\\fI{text}\\fR"]
        elif not indent:
            out += [".PP", roff(text)] if out and out[-1] == "" else [roff(text)]
        elif indent < 10:
            # `  name  what it does`, or an option whose description follows in its own lines.
            name, _, says = text.partition("  ")
            out += [".TP", f"\\fB{roff(name)}\\fR"] + ([roff(says.strip())] if says else [])
        else:
            # A value of a list stands in a line of its own.
            out += ([".br"] if text.startswith("- ") else []) + [roff(text)]
    # An empty line would be printed as one; paragraphs inside an option begin with `.sp`.
    roffed = []
    for number, line in enumerate(out):
        if line:
            roffed.append(line)
        elif number + 1 < len(out) and not out[number + 1].startswith("."):
            roffed.append(".sp")
    return roffed


def page(title, summary, parts, version, others):
    """A man page with one section for each command in `parts`."""
    lines = [f'.TH "{title.upper()}" 1 "{date}" "backhaul {version}" "Backhaul"', ".SH NAME", f"{roff(title)} \\- {roff(summary)}"]
    for name, text in parts:
        lines += [f'.SH "{name.upper()}"' if len(parts) > 1 else ".SH DESCRIPTION", *body(text.split("\n"))]
    lines += [".SH SEE ALSO", ",\n".join(f".BR {roff(other)} (1)" for other in others).replace(",\n", " ,\n")]
    return "\n".join(lines) + "\n"


def man_pages(commands, version):
    """One page for the program, and one for each of its commands with everything below it."""
    top = [name for name in commands if name.count(" ") == 1]
    pages = {"backhaul": page("backhaul", commands["backhaul"].split("\n")[0], [("backhaul", commands["backhaul"])], version,
                              [name.replace(" ", "-") for name in top])}
    for name in top:
        parts = [(below, text) for below, text in commands.items() if below == name or below.startswith(name + " ")]
        summary = commands[name].split("\n")[0].rstrip(".")
        pages[name.replace(" ", "-")] = page(name.replace(" ", "-"), summary, parts, version, ["backhaul"])
    return pages


def words(commands):
    """What may follow each command: the commands below it and its options, with what they do."""
    shared = {}
    table = {}
    for name, text in commands.items():
        table[name] = {}
        for below in commands:
            if below.startswith(name + " ") and below.count(" ") == name.count(" ") + 1:
                table[name][below.rsplit(" ", 1)[1]] = commands[below].split("\n")[0]
        options = re.findall(r"^ +(?:-\w, )?(--[\w-]+)[^\n]*\n +([^\n]+)", text, re.MULTILINE)
        options += re.findall(r"^ +(?:-\w, )?(--[\w-]+)(?: <\w+>)?  +([^\n]+)", text, re.MULTILINE)
        table[name].update(dict(options))
        if name == "backhaul":
            shared = {option: says for option, says in options if option != "--version"}
    return {name: {**below, **shared} for name, below in table.items()}


BASH = """# Completes the commands and options of backhaul; made from `backhaul cli-reference`.
_backhaul() {
    local path=backhaul word current=${COMP_WORDS[COMP_CWORD]}
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case " ${_backhaul_words[$path]} " in *" $word "*) [[ $word == -* ]] || path+=" $word" ;; esac
    done
    mapfile -t COMPREPLY < <(compgen -W "${_backhaul_words[$path]}" -- "$current")
}
declare -gA _backhaul_words=(
@TABLE@
)
complete -o default -F _backhaul backhaul
"""

ZSH = """#compdef backhaul
# Completes the commands and options of backhaul; made from `backhaul cli-reference`.
_backhaul() {
    local -A table=(
@TABLE@
    )
    local place=backhaul word
    for word in ${words[2,CURRENT-1]}; do
        [[ $word != -* && " ${table[$place]} " == *" $word "* ]] && place+=" $word"
    done
    compadd -- ${=table[$place]} || _files
}
_backhaul "$@"
"""

FISH = """# Completes the commands and options of backhaul; made from `backhaul cli-reference`.
function __backhaul_at
    set -l path backhaul
    for word in (commandline -opc)[2..]
        contains -- "$path $word" $__backhaul_commands; and set path "$path $word"
    end
    test "$path" = "$argv[1]"
end
@TABLE@
"""


def table(of, form):
    return "\n".join(form.format(name, " ".join(below)) for name, below in of.items())


def fish(of):
    """One line for each word, since fish shows what it does."""
    quote = lambda text: "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    lines = ["set -g __backhaul_commands " + " ".join(quote(name) for name in of)]
    for name, below in of.items():
        for word, says in below.items():
            kind = f"-l {word[2:]}" if word.startswith("--") else f"-f -a {word}"
            says = textwrap.shorten(says.split(". ")[0], 80, placeholder="…")
            lines.append(f"complete -c backhaul -n '__backhaul_at \"{name}\"' {kind} -d {quote(says)}")
    return "\n".join(lines)


def main():
    commands = read(run("cli-reference"))
    version = run("--version").split()[1]
    manual, completions = directory / "man1", directory / "completions"
    for folder in (manual, completions):
        folder.mkdir(parents=True, exist_ok=True)
    for name, text in man_pages(commands, version).items():
        (manual / f"{name}.1").write_text(text)
    follow = words(commands)
    (completions / "backhaul.bash").write_text(BASH.replace("@TABLE@", table(follow, "    ['{}']='{}'")))
    (completions / "backhaul.zsh").write_text(ZSH.replace("@TABLE@", table(follow, "        '{}' '{}'")))
    (completions / "backhaul.fish").write_text(FISH.replace("@TABLE@", fish(follow)))


main()
