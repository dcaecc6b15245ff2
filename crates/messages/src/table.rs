//! `messages! { name(argument) = "English {argument}", "Chinese {argument}"; }`

/// Makes a function of each entry: without arguments it returns a `&'static str`, with arguments a `String`.
macro_rules! messages {
    ($($name:ident $(($($argument:ident),+))? = $english:literal, $chinese:literal;)*) => {
        $(messages!(@one $name [$($($argument)+)?] $english, $chinese);)*

        /// Name, English and Chinese of each entry.
        #[cfg(test)]
        pub(crate) const ALL: &[(&str, &str, &str)] = &[$((stringify!($name), $english, $chinese)),*];
    };
    (@one $name:ident [] $english:literal, $chinese:literal) => {
        pub fn $name() -> &'static str {
            match $crate::Language::current() {
                $crate::Language::English => $english,
                $crate::Language::Chinese => $chinese,
            }
        }
    };
    (@one $name:ident [$($argument:ident)+] $english:literal, $chinese:literal) => {
        pub fn $name($($argument: &dyn std::fmt::Display),+) -> String {
            match $crate::Language::current() {
                $crate::Language::English => format!($english),
                $crate::Language::Chinese => format!($chinese),
            }
        }
    };
}
