//! The list of verbs for clap.
//!
//! clap's own derive builds the options of all verbs at every start. Here each verb builds its own when it is the one
//! that is meant, and where that can be told from the first word the others are not even named.

/// `Variant(Arguments) = "name" ["alias"]` each.
macro_rules! verbs {
    ($($variant:ident($arguments:ty) = $name:literal [$($alias:literal),*]),* $(,)?) => {
        #[derive(Debug)]
        pub(crate) enum Verb {
            $($variant(Box<$arguments>),)*
        }

        impl Verb {
            pub(crate) fn add_all(command: clap::Command) -> clap::Command {
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
            pub(crate) fn add_meant(command: clap::Command, first: Option<&std::ffi::OsStr>) -> clap::Command {
                match first.and_then(|first| first.to_str()) {
                    $(Some($name $(| $alias)*) => command.subcommand(
                        <$arguments as clap::Args>::augment_args(
                            clap::Command::new($name).aliases([$($alias),*] as [&str; _]),
                        ),
                    ),)*
                    _ => Self::add_all(command),
                }
            }

            /// Takes them out: a copy of all that was read would only take time.
            pub(crate) fn take_from(matches: &mut clap::ArgMatches) -> Result<Self, clap::Error> {
                let (name, mut matches) = matches
                    .remove_subcommand()
                    .ok_or_else(|| clap::Error::new(clap::error::ErrorKind::MissingSubcommand))?;
                match name.as_str() {
                    $($name => <$arguments as clap::FromArgMatches>::from_arg_matches_mut(&mut matches)
                        .map(|it| Self::$variant(Box::new(it))),)*
                    _ => Err(clap::Error::new(clap::error::ErrorKind::MissingSubcommand)),
                }
            }
        }
    };
}

pub(super) use verbs;
