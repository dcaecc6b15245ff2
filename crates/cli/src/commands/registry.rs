//! The list of verbs, as clap wants it.
//!
//! clap's own derive builds the options of all verbs at every start. Here each verb builds its own when it is the one
//! that is meant, and where that can be told from the first word the others are not even named: a start is more than a
//! third of a millisecond shorter.

/// `Variant(Arguments) = "name" ["alias"]` each.
macro_rules! verbs {
    ($($variant:ident($arguments:ty) = $name:literal [$($alias:literal),*]),* $(,)?) => {
        #[derive(Debug)]
        pub(crate) enum Verb {
            $($variant(Box<$arguments>),)*
        }

        impl clap::Subcommand for Verb {
            fn augment_subcommands(command: clap::Command) -> clap::Command {
                command
                    .subcommand_required(true)
                    .arg_required_else_help(true)
                    $(.subcommand(
                        clap::Command::new($name)
                            .aliases([$($alias),*] as [&str; _])
                            .defer(<$arguments as clap::Args>::augment_args),
                    ))*
            }

            /// Of all verbs only the one that the command line begins with, if it does.
            fn augment_subcommands_for_update(command: clap::Command) -> clap::Command {
                let first = std::env::args_os().nth(1);
                match first.as_ref().and_then(|first| first.to_str()) {
                    $(Some($name $(| $alias)*) => command.subcommand(
                        clap::Command::new($name)
                            .aliases([$($alias),*] as [&str; _])
                            .defer(<$arguments as clap::Args>::augment_args),
                    ),)*
                    _ => Self::augment_subcommands(command),
                }
            }

            fn has_subcommand(name: &str) -> bool {
                [$($name),*].contains(&name)
            }
        }

        impl clap::FromArgMatches for Verb {
            fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
                match matches.subcommand() {
                    $(Some(($name, matches)) => {
                        <$arguments>::from_arg_matches(matches).map(|it| Self::$variant(Box::new(it)))
                    })*
                    _ => Err(clap::Error::new(clap::error::ErrorKind::MissingSubcommand)),
                }
            }

            fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }
    };
}

pub(super) use verbs;
