//! The columns of the table of fields.

use super::Field;
use crate::patch::{Change, Patch};
use std::collections::BTreeMap;

/// One field.
#[derive(Debug)]
pub struct Row {
    /// In forms.
    pub name: &'static str,
    /// On the command line and in script lines.
    pub option: Option<Flag>,
    /// In the JSON of the API and of templates. Fields with a key in common are read together.
    pub keys: &'static [&'static str],
    /// How it is written as text; `None` for what is never typed.
    pub text: Option<Text>,
    pub edit: Edit,
    pub form: InForm,
    pub template: InTemplate,
}

#[derive(Debug, Clone, Copy)]
pub struct Flag {
    pub long: &'static str,
    pub short: Option<char>,
    pub alias: Option<&'static str>,
    /// What stands for its value in the help; empty where it has none.
    pub value: &'static str,
    pub group: Group,
    pub excludes: Option<Field>,
}

/// The parts of the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    Needs,
    Turn,
    Description,
    Manner,
    Output,
}

#[derive(Debug, Clone, Copy)]
pub struct Text {
    pub shape: Shape,
    /// Over what the patch says already.
    pub read: fn(&str, &mut Patch) -> Result<(), String>,
    /// As a user could type it; empty for the default.
    pub write: fn(&Patch) -> String,
    /// Says that it is as by default; `None`: all of its keys are.
    pub clear: Option<fn(&mut Patch)>,
    /// How the editor shows the default, where an empty text would puzzle.
    pub default: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub enum Shape {
    Line,
    Number,
    Switch,
    /// A switch that may have a value: `--shell`, `--shell=PATH`.
    SwitchOrLine,
    /// Can be repeated; `NAME=value` on a line each in forms. Where they are in a patch.
    Pairs(fn(&mut Patch) -> &mut Change<BTreeMap<String, String>>),
    /// Can be repeated; a line each in forms.
    Lines,
    /// Can be repeated; separated by commas in forms.
    List,
    /// The words of a command.
    Words,
    Choice(&'static [&'static str]),
}

/// Whether it can be changed while the task waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    Yes,
    No(&'static str),
}

/// Whether the page asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InForm {
    Yes,
    /// By a control that several fields share.
    As(&'static str),
    No(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InTemplate {
    Yes,
    /// In a template file only; the page leaves it out, as it differs from task to task.
    IfWritten,
    No,
}

/// A field that may be edited and is in forms and templates, as most are.
pub(super) const fn row(name: &'static str, keys: &'static [&'static str]) -> Row {
    Row {
        name,
        option: None,
        keys,
        text: None,
        edit: Edit::Yes,
        form: InForm::Yes,
        template: InTemplate::Yes,
    }
}

pub(super) const fn flag(
    group: Group,
    long: &'static str,
    short: char,
    value: &'static str,
) -> Option<Flag> {
    // A space is no letter.
    let short = if short == ' ' { None } else { Some(short) };
    Some(Flag { long, short, alias: None, value, group, excludes: None })
}

pub(super) const fn text(
    shape: Shape,
    read: fn(&str, &mut Patch) -> Result<(), String>,
    write: fn(&Patch) -> String,
) -> Option<Text> {
    Some(Text { shape, read, write, clear: None, default: "" })
}

pub(super) const fn shown(text: Option<Text>, default: &'static str) -> Option<Text> {
    match text {
        Some(text) => Some(Text { default, ..text }),
        None => None,
    }
}

pub(super) const fn cleared(text: Option<Text>, clear: fn(&mut Patch)) -> Option<Text> {
    match text {
        Some(text) => Some(Text { clear: Some(clear), ..text }),
        None => None,
    }
}

pub(super) const fn excluding(flag: Option<Flag>, field: Field) -> Option<Flag> {
    match flag {
        Some(flag) => Some(Flag { excludes: Some(field), ..flag }),
        None => None,
    }
}

pub(super) const fn also(flag: Option<Flag>, alias: &'static str) -> Option<Flag> {
    match flag {
        Some(flag) => Some(Flag { alias: Some(alias), ..flag }),
        None => None,
    }
}
