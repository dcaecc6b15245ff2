//! A type name exists once per crate, so that a name in a message, a diff or a search means one thing.
//!
//! The sources are read as text. Counted are structs, enums, traits and type aliases at module level, also those that
//! are written out in a macro; not counted are associated types, items in function bodies, and test modules.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

#[test]
fn a_type_name_exists_once_per_crate() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut twice = Vec::new();
    for source in fs::read_dir(&crates).expect("the crates") {
        let source = source.expect("a crate");
        let name = source.file_name().into_string().expect("a crate's name");
        for (type_name, places) in declared_in(&source.path().join("src")) {
            if places.len() > 1 {
                twice.push(format!("{name}: {type_name} in {}", places.join(", ")));
            }
        }
    }
    assert!(twice.is_empty(), "declared more than once:\n{}", twice.join("\n"));
}

#[test]
fn only_types_at_module_level_count() {
    let source = r##"
//! struct InComment {}
/* enum InComment { /* nested */ } */
pub struct Plain<'a> { text: &'a str, quote: char }
pub(crate) enum Choice { A, B }
trait Named { type Associated; fn f() { struct InDefault; } }
impl Named for u8 { type Associated = u8; }
type Alias = (fn(u8) -> u8, [u8; 3]);
fn body(x: [u8; 2]) -> impl Iterator { struct Local; let s = "struct InText {"; let c = '{'; }
const TEXT: &str = r#"trait InRaw { " "#;
macro_rules! made { ($name:ident) => { pub struct Made; struct $name; } }
mod inner { pub struct Inner; }
mod tests { struct InTests; }
struct Last(u8);
"##;
    let expected = ["Plain", "Choice", "Named", "Alias", "Made", "Inner", "Last"];
    let found = declared(source);
    assert_eq!(found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), expected);
    assert_eq!(found[0].1, 4);
}

/// Every name with the places where it is declared.
fn declared_in(sources: &Path) -> BTreeMap<String, Vec<String>> {
    let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in rust_files(sources) {
        let text = fs::read_to_string(&path).expect("a source file");
        let shown = path.strip_prefix(sources).unwrap_or(&path).display();
        for (name, line) in declared(&text) {
            names.entry(name).or_default().push(format!("{shown}:{line}"));
        }
    }
    names
}

fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).expect("a source directory") {
        let path = entry.expect("a directory entry").path();
        if path.file_stem().is_some_and(|stem| stem == "tests") {
            continue;
        }
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|it| it == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// What a pair of braces encloses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    /// Declarations count.
    Module,
    /// A trait or an implementation: its types are associated types.
    Associated,
    /// A function body or a test module: nothing in it counts.
    Ignored,
}

/// The names that a source file declares, with their lines.
fn declared(source: &str) -> Vec<(String, usize)> {
    let tokens = tokens(source);
    let mut found = Vec::new();
    let mut blocks = Vec::new();
    // What stands before a brace says what it opens; a semicolon in brackets (`[u8; 2]`) does not end it.
    let (mut head, mut brackets) = (0, 0_usize);
    for (at, (token, line)) in tokens.iter().enumerate() {
        let block = blocks.last().map_or(Block::Module, |(block, _)| *block);
        match token.as_str() {
            "(" | "[" => brackets += 1,
            ")" | "]" => brackets = brackets.saturating_sub(1),
            "{" => {
                blocks.push((opened(&tokens[head..at], block), brackets));
                (head, brackets) = (at + 1, 0);
            }
            "}" => {
                brackets = blocks.pop().map_or(0, |(_, brackets)| brackets);
                if brackets == 0 {
                    head = at + 1;
                }
            }
            ";" if brackets == 0 => head = at + 1,
            "struct" | "enum" | "trait" | "type" if block == Block::Module => {
                let name = tokens.get(at + 1).map_or("", |(name, _)| name.as_str());
                if name.starts_with(char::is_alphabetic) {
                    found.push((name.to_owned(), *line));
                }
            }
            _ => {}
        }
    }
    found
}

fn opened(head: &[(String, usize)], around: Block) -> Block {
    let keyword = |word: &str| matches!(word, "fn" | "impl" | "trait" | "mod");
    let at = head.iter().position(|(word, _)| keyword(word));
    let first = at.map_or("", |at| head[at].0.as_str());
    let name = at.and_then(|at| head.get(at + 1)).map_or("", |(name, _)| name.as_str());
    match first {
        _ if around == Block::Ignored => Block::Ignored,
        "fn" => Block::Ignored,
        "mod" if name == "tests" => Block::Ignored,
        "impl" | "trait" => Block::Associated,
        _ => around,
    }
}

/// Words and single signs with their lines, without comments, strings and characters.
fn tokens(source: &str) -> Vec<(String, usize)> {
    let bytes: Vec<char> = source.chars().collect();
    let (mut at, mut line) = (0, 1);
    let mut found = Vec::new();
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = skipped(rest).unwrap_or_else(|| {
            let word = rest.iter().take_while(|c| c.is_alphanumeric() || **c == '_').count();
            if !rest[0].is_whitespace() {
                found.push((rest[..word.max(1)].iter().collect(), line));
            }
            word.max(1)
        });
        line += rest[..length].iter().filter(|c| **c == '\n').count();
        at += length;
    }
    found
}

/// How long the comment, string, character or lifetime is that begins here.
fn skipped(text: &[char]) -> Option<usize> {
    let is = |at: usize, c: char| text.get(at) == Some(&c);
    let prefix = text.iter().take(2).take_while(|c| matches!(c, 'b' | 'r' | 'c')).count();
    let hashes = text[prefix..].iter().take_while(|c| **c == '#').count();
    match text[0] {
        '/' if is(1, '/') => Some(text.iter().take_while(|c| **c != '\n').count()),
        '/' if is(1, '*') => Some(block_comment(text)),
        '\'' if is(1, '\\') => {
            let end = text.iter().skip(3).position(|c| *c == '\'')?;
            Some(end + 4)
        }
        '\'' if is(2, '\'') => Some(3),
        '\'' => Some(1 + text[1..].iter().take_while(|c| c.is_alphanumeric()).count()),
        '"' => Some(quoted(text, 1)),
        'b' if is(1, '\'') => skipped(&text[1..]).map(|length| length + 1),
        'b' | 'c' if is(1, '"') => Some(quoted(text, 2)),
        'b' | 'r' | 'c' if text[..prefix].contains(&'r') && is(prefix + hashes, '"') => {
            let end: Vec<char> = std::iter::once('"').chain(vec!['#'; hashes]).collect();
            let begin = prefix + hashes + 1;
            let length = text[begin..].windows(end.len()).position(|it| it == end)?;
            Some(begin + length + end.len())
        }
        // `r#type` is a name.
        'r' if is(1, '#') => {
            Some(2 + text[2..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').count())
        }
        _ => None,
    }
}

fn quoted(text: &[char], begin: usize) -> usize {
    let mut at = begin;
    while at < text.len() && text[at] != '"' {
        at += if text[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(text.len())
}

fn block_comment(text: &[char]) -> usize {
    let (mut at, mut depth) = (2, 1);
    while at < text.len() && depth > 0 {
        match (text[at], text.get(at + 1)) {
            ('/', Some('*')) => (at, depth) = (at + 2, depth + 1),
            ('*', Some('/')) => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
    }
    at
}
