//! Styles: colours where they are wanted, else only what every terminal has.

use ratatui::style::{Color, Modifier, Style};

use super::super::model::gpu_pane::Whose;
use crate::screen::colour::Colour;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Palette {
    pub(crate) has_colours: bool,
}

impl Palette {
    fn colour(self, colour: Color) -> Style {
        if self.has_colours { Style::new().fg(colour) } else { Style::new() }
    }

    pub(super) fn of(self, colour: Option<Colour>) -> Style {
        match colour {
            None => Style::new(),
            Some(Colour::Dim) => Self::dim(),
            Some(Colour::Green) => self.colour(Color::Green),
            Some(Colour::Yellow) => self.colour(Color::Yellow),
            Some(Colour::Red) => self.colour(Color::Red),
        }
    }

    pub(super) fn owner(self, whose: Whose) -> Style {
        match whose {
            Whose::Nobodys => Self::dim(),
            Whose::Mine => self.colour(Color::Green),
            Whose::Others => self.colour(Color::Blue),
            Whose::Outside => self.colour(Color::Yellow),
            Whose::Aside => self.colour(Color::Red),
        }
    }

    pub(super) fn warning(self) -> Style {
        self.colour(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    pub(super) fn dim() -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(super) fn bold() -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(super) fn selected() -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }
}
